// Package temporal is the driver on Temporal: one workflow for each tree of runs.
// Its state is the fold of the records, flow decides, and what flow decides becomes
// activities, timers and markers in the history of the workflow. The attempts are
// made on hosts by the same hand, site and keepers as those of the local driver.
package temporal
