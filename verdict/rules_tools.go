package verdict

import "github.com/belay-run/belay"

// toolRules are the words of one tool each, where the general ones would be
// wrong or say nothing.
func toolRules() []Rule {
	return []Rule{
		{ID: "git.size", Tool: "git", Class: belay.ClassInvalidInput, Pattern: `exceeds .{0,60}size limit|large files? detected`},
		{ID: "git.protected", Tool: "git", Class: belay.ClassPermission, Move: belay.ActEscalate, Pattern: `protected branch|pre-receive hook declined|GH006|GH013`},
		{ID: "git.merge", Tool: "git", Class: belay.ClassConflict, Move: belay.ActRepair, Pattern: `^conflict \(|merge conflict|unmerged|\[(remote )?rejected\]|non-fast-forward|fetch first|(was|were) rejected|would be overwritten|unrelated histories|unresolved conflict|could not apply|patch (does not apply|failed)|divergent|not possible to fast-forward|overwritten by (merge|checkout)|needs merge|unstaged changes|in progress`},
		{ID: "git.login", Tool: "git", Class: belay.ClassAuth, Pattern: `could not read (username|password)|authentication failed|permission denied \((publickey|password|keyboard|gssapi)|permission to .* denied|returned error: 40[13]|host key verification|invalid username or|support for password`},
		{ID: "git.owner", Tool: "git", Class: belay.ClassInfrastructure, Pattern: `dubious ownership|unsafe repository`},
		{ID: "git.broken", Tool: "git", Class: belay.ClassInfrastructure, Pattern: `object file .* is empty|loose object .* is corrupt|index file (corrupt|smaller)|unable to read tree|not point to .{0,10}valid`},
		{ID: "git.name", Tool: "git", Class: belay.ClassInvalidInput, Pattern: `ident name|tell me who you are|author identity|not a git repository|repository not found|pathspec|unknown revision|bad (revision|object)|ambiguous argument|invalid refspec|couldn't find remote|not a valid|no such (remote|ref)|does not appear to be|already exists|not a git command|no upstream|no tracking information|no configured push|refusing to`},

		{ID: "gh.limit", Tool: "gh", Class: belay.ClassRateLimit, Pattern: `rate limit|abuse detection|submitted too quickly`},
		{ID: "gh.there_already", Tool: "gh", Class: belay.ClassInvalidInput, Move: belay.ActNone, Pattern: `already exists|already (merged|closed)`},
		{ID: "gh.no_commits", Tool: "gh", Class: belay.ClassHollow, Pattern: `no commits between`},
		{ID: "gh.login", Tool: "gh", Class: belay.ClassAuth, Pattern: `gh auth|HTTP 401|bad credentials|GH_TOKEN`},
		{ID: "gh.merge", Tool: "gh", Class: belay.ClassConflict, Move: belay.ActRepair, Pattern: `not mergeable|merge conflict`},
		{ID: "gh.missing", Tool: "gh", Class: belay.ClassInvalidInput, Pattern: `HTTP 4(04|22)|could not resolve to|no (pull requests|default remote|git remotes)`},

		{ID: "npm.missing", Tool: "npm", Class: belay.ClassInvalidInput, Pattern: `\b(E404|ETARGET|EUSAGE|EJSONPARSE|ENOLOCK|EINVALID\w+|EUNSUPPORTEDPROTOCOL|EBADENGINE|EBADPLATFORM|EPUBLISHCONFLICT|ENOVERSIONS|ENOENT)\b|missing script|outdated_lockfile`},
		{ID: "npm.script", Tool: "npm", Class: belay.ClassWorkFailure, Pattern: `ELIFECYCLE|lifecycle script|command failed|errno 1$`},

		{ID: "docker.socket", Tool: "docker", Class: belay.ClassPermission, Move: belay.ActEscalate, Pattern: `permission denied.*docker|docker.*permission denied$`},
		{ID: "docker.missing", Tool: "docker", Class: belay.ClassInvalidInput, Pattern: `manifest( \S+)? (unknown|not found)|no such (image|container|volume|network)|invalid reference|pull access denied|failed to read dockerfile|unknown instruction|not found: not found|no matching manifest`},
		{ID: "docker.login", Tool: "docker", Class: belay.ClassAuth, Pattern: `unauthorized|no basic auth|authentication required|docker login|requested access .{0,30}denied`},

		{ID: "kubectl.quota", Tool: "kubectl", Class: belay.ClassQuota, Move: belay.ActEscalate, Pattern: `exceeded quota`},
		{ID: "kubectl.login", Tool: "kubectl", Class: belay.ClassAuth, Pattern: `must be logged in|\(unauthorized\)|provide credentials`},
		{ID: "kubectl.there_already", Tool: "kubectl", Class: belay.ClassInvalidInput, Move: belay.ActNone, Pattern: `\(alreadyexists\)`},
		{ID: "kubectl.wait", Tool: "kubectl", Class: belay.ClassTimeout, Pattern: `timed out waiting`},

		{ID: "aws.quota", Tool: "aws", Class: belay.ClassQuota, Move: belay.ActEscalate, Pattern: `\(\w*(limitexceeded|quotaexceeded)\w*\)`},
		{ID: "aws.login", Tool: "aws", Class: belay.ClassAuth, Pattern: `\((expiredtoken\w*|invalidclienttokenid|unrecognizedclient\w*|authfailure|signaturedoesnotmatch|invalidaccesskeyid|requestexpired)\)|unable to locate credentials|sso|token has expired`},
		{ID: "aws.there_already", Tool: "aws", Class: belay.ClassInvalidInput, Move: belay.ActNone, Pattern: `\(\w*already(exists|ownedbyyou)\w*\)`},
		{ID: "aws.server", Tool: "aws", Class: belay.ClassTransient, Pattern: `\((internal\w*|serviceunavailable\w*|503|500)\)|could not connect to the endpoint`},

		{ID: "psql.rights", Tool: "psql", Class: belay.ClassPermission, Move: belay.ActEscalate, Pattern: `permission denied for|must be owner`},
		{ID: "psql.full", Tool: "psql", Class: belay.ClassTransient, Pattern: `too many (clients|connections)|remaining connection slots|starting up|shutting down|recovery mode|server closed the`},
		{ID: "psql.slow", Tool: "psql", Class: belay.ClassTimeout, Pattern: `statement timeout|timeout expired`},
		{ID: "mysql.login", Tool: "mysql", Class: belay.ClassAuth, Pattern: `ERROR (1045|1698)`},
		{ID: "mysql.rights", Tool: "mysql", Class: belay.ClassPermission, Move: belay.ActEscalate, Pattern: `ERROR (1044|1142|1227)`},
		{ID: "redis.login", Tool: "redis", Class: belay.ClassAuth, Pattern: `NOAUTH|WRONGPASS`},
		{ID: "redis.wait", Tool: "redis", Class: belay.ClassTransient, Pattern: `LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN`},
		{ID: "redis.memory", Tool: "redis", Class: belay.ClassInfrastructure, Pattern: `\bOOM\b|MISCONF|READONLY`},

		{ID: "ssh.login", Tool: "ssh", Class: belay.ClassAuth, Pattern: `permission denied \((publickey|password|keyboard|gssapi)|host key verification|too many authentication|no matching (host key|key exchange)`},
		{ID: "apt.name", Tool: "apt", Class: belay.ClassInfrastructure, Move: belay.ActRetry, Pattern: `failure resolving|could not resolve`},
		{ID: "apt.denied", Tool: "apt", Class: belay.ClassPermission, Pattern: `13: permission denied`},
		{ID: "apt.rights", Tool: "apt", Class: belay.ClassPermission, Pattern: `are you root|permission denied`},
		{ID: "apt.fetch", Tool: "apt", Class: belay.ClassTransient, Pattern: `failed to fetch|hash sum mismatch|some index files`},
		{ID: "pip.missing", Tool: "pip", Class: belay.ClassInvalidInput, Pattern: `no matching distribution|resolutionimpossible|conflicting dependencies|externally-managed|requirements file|requires-python|invalid requirement`},
		{ID: "pip.build", Tool: "pip", Class: belay.ClassWorkFailure, Pattern: `failed building wheel|subprocess-exited-with-error|metadata-generation-failed`},
		{ID: "maven.missing", Tool: "maven", Class: belay.ClassInvalidInput, Pattern: `could not find artifact|no plugin found|unknown lifecycle|no goals|non-parseable|there is no pom|requires a project`},
		{ID: "gradle.missing", Tool: "gradle", Class: belay.ClassInvalidInput, Pattern: `could not (find|get unknown)|task .* not found|plugin .* was not found`},
		{ID: "gradle.lock", Tool: "gradle", Class: belay.ClassConflict, Pattern: `timeout waiting to lock|in use by another`},
		{ID: "cargo.slow", Tool: "cargo", Class: belay.ClassTimeout, Pattern: `timeout was reached|timed out`},
		{ID: "cargo.name", Tool: "cargo", Class: belay.ClassInfrastructure, Move: belay.ActRetry, Pattern: `resolve host`},

		{ID: "go.missing", Tool: "go", Class: belay.ClassInvalidInput, Pattern: `: 4(04|10) \w|unknown revision|no required module|is not in std|go\.mod file not found|missing go\.sum|updates to go\.mod|errors parsing|no go files|cannot find (main )?module|matched no packages|invalid version|malformed|directory .* not (found|outside)|does not contain package|flag provided but`},
		{ID: "go.checksum", Tool: "go", Class: belay.ClassInfrastructure, Pattern: `checksum mismatch|SECURITY ERROR`},
		{ID: "go.proxy", Tool: "go", Class: belay.ClassTransient, Pattern: `: 5\d\d \w+`},
		{ID: "go.panic", Tool: "go", Class: belay.ClassWorkFailure, Pattern: `^panic: |^fatal error: (all goroutines|concurrent|stack)`},
		{ID: "dotnet.feed", Tool: "dotnet", Class: belay.ClassTransient, Pattern: `\bNU13\d\d\b`},
		{ID: "dotnet.package", Tool: "dotnet", Class: belay.ClassInvalidInput, Pattern: `\bNU1[12]\d\d\b`},
		{ID: "make.missing", Tool: "make", Class: belay.ClassInvalidInput, Pattern: `no rule to make|no targets specified|missing separator|no makefile`},
	}
}
