package redact

import (
	"slices"
	"testing"
)

func TestSecretive(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "TOKEN", "npm_config__authToken", "CLIENT_SECRET", "DB_PASSWORD", "PGPASSWORD",
		"ROOT_PASSWD", "GPG_PASSPHRASE", "AWS_CREDENTIALS", "OPENAI_API_KEY", "APIKEY", "SSH_PRIVATE_KEY",
		"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "HTTP_AUTH", "AUTH", "AUTH_HEADER", "PROXY_AUTHORIZATION",
		"SESSION_COOKIE", "SENTRY_DSN", "DSN", "DATABASE_URL", "MY_DATABASE_URL_RO", "GH_PAT", "PAT",
		"JWT", "APP_JWT", "sessionJwt", "CREDS", "DB_CREDS", "dbCreds", "GCP_CREDENTIAL", "CREDENTIAL", "OAUTH", "GITHUB_OAUTH",
		"OAUTH2_CODE", "BEARER", "API_BEARER", "PASSWORD_SALT", "SALT", "COOKIE", "COOKIES",

		"AZURE_PAT_2", "SIGNING_KEY", "ENCRYPTION-KEY", "DB_PASS", "MYSQL_PWD", "MAX_RETRY_TOKEN", "belay_key", "MY_BELAY_KEY",
	} {
		if !Secretive(name) {
			t.Errorf("%s is not taken for a secret", name)
		}
	}
	for _, name := range []string{
		"MONKEY", "KEYBOARD", "KEY", "KEYS", "HOTKEY", "PATH", "GOPATH", "PATTERN", "MY_PATH", "AUTHOR", "GIT_AUTHOR_NAME",
		"SSH_AUTH_SOCK", "XAUTHORITY", "PWD", "OLDPWD", "COMPASS", "GIT_ASKPASS", "KEYRING_BACKEND", "SSH_KEY_PATH",
		"TOKEN_FILE", "SECRETS_DIR", "TOKENIZERS_PARALLELISM", "MAX_OUTPUT_TOKENS", "DEPLOY_PUBLIC_KEY", "BELAY_SECRETS", "BELAY_KEY", "HOME", "", "_",
		"BASALT", "SALTY", "ASSAULT", "SACRED", "SCREEN", "CREDS_FILE", "JWT_PATH", "COAUTHOR", "CREDO",
	} {
		if Secretive(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func TestFromEnv(t *testing.T) {
	env := []string{
		"PATH=/bin", "GH_TOKEN=tok-1", "PLAIN=declared-value", "EMPTY_TOKEN=", "OTHER=x", "COPY_SECRET=tok-1",
		"EQ_TOKEN=a=b=c", "REDIS_URL=redis://:hun%40ter@host:1/0", "PROXY=http://me@host", "MIRROR=https://u:p4ss@h?x=a@b:c",
		"broken", "TIME=12:30@home", "BELAY_KEY=a-long-run=step.1",
	}
	got := FromEnv(env, []string{"PLAIN", "MISSING"})
	want := []string{"tok-1", "declared-value", "a=b=c", "hun%40ter", "hun@ter", "p4ss"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := FromEnv([]string{"BELAY_KEY=hunter22"}, []string{"BELAY_KEY"}); !slices.Equal(got, []string{"hunter22"}) {
		t.Errorf("declared: got %q", got)
	}
}
