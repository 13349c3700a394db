got=$(bash total.sh 2 3 5)
[ "$got" = 10 ] && echo "ok: 2 + 3 + 5 is 10" && exit
echo "FAIL: 2 + 3 + 5 should be 10, and is $got"
exit 1
