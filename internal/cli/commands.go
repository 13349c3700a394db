package cli

import "github.com/spf13/cobra"

// maker makes the command of a name.
type maker struct {
	name string
	make func() *cobra.Command
}

func (a *app) makers() []maker {
	return []maker{
		{"do", a.doCommand}, {"run", a.runCommand}, {"resume", a.resumeCommand},
		{"watch", a.watchCommand}, {"notify", a.notifyCommand}, {"validate", a.validateCommand},
		{"runs", a.runsCommand}, {"show", a.showCommand}, {"logs", a.logsCommand},
		{"tree", a.treeCommand}, {"audit", a.auditCommand}, {"answer", a.answerCommand},
		{"approve", a.approveCommand}, {"reject", a.rejectCommand}, {"clear", a.clearCommand},
		{"pause", a.pauseCommand}, {"rerun", a.rerunCommand}, {"stop", a.stopCommand},
		{"cancel", a.cancelCommand}, {"new", a.newCommand}, {"recipes", a.recipesCommand},
		{"explain", a.explainCommand}, {"graph", a.graphCommand}, {"expr", a.exprCommand},
		{"calls", a.callsCommand}, {"at", a.atCommand}, {"schema", a.schemaCommand},
		{"branch", a.branchCommand}, {"doctor", a.doctorCommand}, {"completion", a.completionCommand},
		{"version", a.versionCommand}, {"keeper", a.keeperCommand}, {"attend", a.attendCommand},
		{"check", a.checkCommand}, {"mergeback", a.mergebackCommand}, {"place", a.placeCommand},
		{"nsinit", a.nsinitCommand}, {"scripted", a.scriptedCommand}, {"judge", a.judgeCommand},
		{"gc", a.gcCommand}, {"attach", a.attachCommand}, {"rm", a.rmCommand}, {"prune", a.pruneCommand}, {"export", a.exportCommand},
		{"import", a.importCommand}, {"classify", a.classifyCommand}, {"replan", a.replanCommand},
		{"rehearse", a.rehearseCommand}, {"rehearsal", a.rehearsalCommand}, {"demo", a.demoCommand},
		{"why", a.whyCommand}, {"receipt", a.receiptCommand}, {"history", a.historyCommand},
		{"inbox", a.inboxCommand}, {"issue", a.issueCommand},
	}
}

// commands are those that the arguments need: the one that is named first, or all
// of them where the whole tree counts, as for help, for completion, for a name that
// is not known and behind flags. Most processes of a run are one command that does
// one thing; all commands with their flags cost a tenth of the time of its start.
func (a *app) commands(args []string) []*cobra.Command {
	makers := a.makers()
	var all []*cobra.Command
	for _, m := range makers {
		if len(args) > 0 && args[0] == m.name && m.name != "completion" {
			return []*cobra.Command{m.make()}
		}
	}
	for _, m := range makers {
		all = append(all, m.make())
	}
	return all
}
