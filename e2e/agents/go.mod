// No Go here: this file keeps Go sources inside npm packages out of Belay.
module github.com/belay-run/belay/e2e/agents

go 1.26
