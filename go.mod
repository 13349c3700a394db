module github.com/belay-run/belay

go 1.26
