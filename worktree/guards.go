package worktree

import (
	"path"
	"strings"
)

// testFolders hold tests, at any depth.
var testFolders = []string{"test", "tests", "spec", "specs", "__tests__", "testdata", "e2e", "__snapshots__"}

// ciFolders hold orders for a build machine, at any depth.
var ciFolders = []string{".github/workflows", ".github/actions", ".circleci", ".buildkite", ".gitlab/ci"}

// testNames are names of test files, with * for anything.
var testNames = []string{
	"*_test.*", "*_tests.*", "test_*.*", "test.*", "tests.*", "run_tests*", "run-tests*", "runtests*", "*.test.*", "*.spec.*", "*_spec.*", "*Test.java", "*Tests.java", "*Test.kt",
	"*Tests.cs", "*Test.php", "*.bats", "*.snap",
}

// testSettings are names of files that say which tests run, and how: they are no tests,
// wherever they are.
var testSettings = []string{
	"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "noxfile.py", "jest.config.*",
	"vitest.config.*", "vitest.workspace.*", "playwright.config.*", ".mocharc.*", "karma.conf.*", "ava.config.*", "phpunit.xml*",
	".rspec", "dart_test.yaml", "*.runsettings", "codecov.yml", ".coveragerc",
}

// otherGuards are orders for CI, and files that also build the product (Makefile,
// justfile): they are where a project says what "the tests" are, and an agent that
// empties the target passes.
var otherGuards = []string{
	".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile", "bitbucket-pipelines.yml", ".drone.yml",
	".woodpecker.yml", "appveyor.yml", ".pre-commit-config.yaml", "Makefile", "GNUmakefile", "justfile", "Taskfile.yml",
}

// Guard tells whether a file, by its path in the repository, is one that
// judges the work: a test, its data or settings, or orders for CI.
func Guard(file string) bool {
	return IsTest(file) || IsTestSettings(file) || inFolder(file, ciFolders) || named(file, otherGuards)
}

// IsTest tells whether a file is a test, or its data.
func IsTest(file string) bool {
	return (inFolder(file, testFolders) || named(file, testNames)) && !IsTestSettings(file)
}

// IsTestSettings tells whether a file says which tests run, and how.
func IsTestSettings(file string) bool { return named(file, testSettings) }

// inFolder tells whether a file lies below one of the folders, at any depth.
func inFolder(file string, folders []string) bool {
	in := "/" + path.Dir(file) + "/"
	for _, dir := range folders {
		if strings.Contains(in, "/"+dir+"/") {
			return true
		}
	}
	return false
}

// named tells whether the name of a file is one of the patterns.
func named(file string, patterns []string) bool {
	name := path.Base(file)
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are sound: a test matches them all
			return true
		}
	}
	return false
}
