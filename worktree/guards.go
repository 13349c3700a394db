package worktree

import (
	"path"
	"strings"
)

// guardFolders hold tests or orders for a build machine, at any depth.
var guardFolders = []string{
	"test", "tests", "spec", "specs", "__tests__", "testdata", "e2e", "__snapshots__",
	".github/workflows", ".github/actions", ".circleci", ".buildkite", ".gitlab/ci",
}

// guardNames are names of files, with * for anything. Files that also build
// the product (Makefile, package.json) are on the list when they are where a
// project says what "the tests" are: an agent that empties the target passes.
var guardNames = []string{
	"*_test.*", "*_tests.*", "test_*.*", "*.test.*", "*.spec.*", "*_spec.*", "*Test.java", "*Tests.java", "*Test.kt",
	"*Tests.cs", "*Test.php", "*.bats", "*.snap", "conftest.py",
	"pytest.ini", "tox.ini", "noxfile.py", "jest.config.*", "vitest.config.*", "playwright.config.*",
	".mocharc.*", "karma.conf.*", "phpunit.xml*", ".rspec", "codecov.yml", ".coveragerc",
	".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile", "bitbucket-pipelines.yml", ".drone.yml",
	".woodpecker.yml", "appveyor.yml", ".pre-commit-config.yaml", "Makefile", "GNUmakefile", "justfile", "Taskfile.yml",
}

// Guard tells whether a file, by its path in the repository, is one that
// judges the work: a test, its data or settings, or orders for CI.
func Guard(file string) bool {
	in := "/" + path.Dir(file) + "/"
	for _, dir := range guardFolders {
		if strings.Contains(in, "/"+dir+"/") {
			return true
		}
	}
	name := path.Base(file)
	for _, pattern := range guardNames {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are sound: a test matches them all
			return true
		}
	}
	return false
}
