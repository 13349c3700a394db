// Package deploy holds what is in this folder against the parser of docker compose, the
// keys of Temporal's Helm chart, and the real program. No container is started here.
package deploy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
)

// project is the compose file as docker compose reads it.
func project(t *testing.T) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithName("belay"), cli.WithEnv([]string{"POSTGRES_PASSWORD=some"}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCompose: docker compose takes the file, every image has a version, nothing listens
// but on the loopback, and a worker has as long to end as it drains.
func TestCompose(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, s := range p.Services {
		if !strings.Contains(s.Image, ":") {
			t.Errorf("%s: image %q has no version", name, s.Image)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s listens on %q", name, port.HostIP)
			}
		}
		for _, v := range s.Volumes {
			if _, known := p.Volumes[v.Source]; v.Type == types.VolumeTypeVolume && !known {
				t.Errorf("%s: no volume %s", name, v.Source)
			}
		}
	}
	w := p.Services["worker"]
	drained(t, w.Command, time.Duration(*w.StopGracePeriod))
	if _, err := os.Stat(filepath.Join(w.Build.Context, w.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	o, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithName("belay"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.LoadProject(context.Background()); err == nil || !strings.Contains(err.Error(), "POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v", err)
	}
}

// drained checks that a worker may end in order before it is killed.
func drained(t *testing.T, args []string, grace time.Duration) {
	t.Helper()
	drain, err := time.ParseDuration(after(args, "--drain"))
	if err != nil || drain >= grace {
		t.Errorf("it drains for %s (%v), and is killed after %s", drain, err, grace)
	}
}

// after is the argument behind another one.
func after(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// parsed reads a file of YAML.
func parsed(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestValues: the values have only keys that the chart knows; with the others the chart
// refuses them, or takes no notice.
func TestValues(t *testing.T) {
	t.Parallel()
	var v map[string]any
	parsed(t, "values.yaml", &v)
	store := `sql\.(createDatabase|manageSchema|pluginName|driverName|databaseName|connectAddr|connectProtocol|user|existingSecret|secretKey|maxConns|maxIdleConns|maxConnLifetime)`
	known := regexp.MustCompile(`^server\.(config\.(persistence\.(defaultStore|visibilityStore|numHistoryShards|datastores\.\w+\.` + store + `)|namespaces\.(create|namespace))` +
		`|dynamicConfig\.frontend\.enableCancelWorkerPollsOnShutdown|(frontend|history|matching|worker)\.(replicaCount|resources\.requests\.(cpu|memory)))$`)
	stores := map[string]int{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			if !known.MatchString(path) {
				t.Errorf("the chart has no %s", path)
			}
			return
		}
		for k, v := range m {
			if strings.HasSuffix(path, ".datastores") {
				stores[k] = len(v.(map[string]any)["sql"].(map[string]any))
			}
			walk(strings.TrimPrefix(path+"."+k, "."), v)
		}
	}
	walk("", v)
	if len(stores) != 2 || stores["default"] != 13 || stores["visibility"] != 13 {
		t.Errorf("the stores are %v", stores)
	}
}

// pod is what is looked at of worker.yaml.
type pod struct {
	Kind string
	Spec struct {
		ServiceName string `yaml:"serviceName"`
		Selector    struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Grace   int `yaml:"terminationGracePeriodSeconds"`
				Volumes []struct {
					Name  string
					Claim struct {
						Name string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
				}
				Containers []struct {
					Args  []string
					Env   []struct{ Name, Value string }
					Ports []struct {
						ContainerPort int `yaml:"containerPort"`
					}
					ReadinessProbe struct {
						HTTPGet struct {
							Path string
							Port int
						} `yaml:"httpGet"`
					} `yaml:"readinessProbe"`
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
			}
		}
		Claims []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

// TestWorkerOnKubernetes: the parts of worker.yaml fit one another.
func TestWorkerOnKubernetes(t *testing.T) {
	t.Parallel()
	var p pod
	parsed(t, "worker.yaml", &p)
	c := p.Spec.Template.Spec.Containers[0]
	drained(t, c.Args, time.Duration(p.Spec.Template.Spec.Grace)*time.Second)
	_, port, err := net.SplitHostPort(after(c.Args, "--listen"))
	if err != nil || port != fmt.Sprint(c.ReadinessProbe.HTTPGet.Port) || port != fmt.Sprint(c.Ports[0].ContainerPort) || c.ReadinessProbe.HTTPGet.Path != "/healthz" {
		t.Errorf("it listens on %s, and is asked on %+v: %v", port, c.ReadinessProbe, err)
	}
	var volumes []string
	for _, v := range p.Spec.Template.Spec.Volumes {
		if volumes = append(volumes, v.Name); !slices.Contains(claims(t, "worker.yaml"), v.Claim.Name) {
			t.Errorf("nobody makes claim %q, which all workers write to", v.Claim.Name)
		}
	}
	for _, v := range p.Spec.Claims {
		volumes = append(volumes, v.Metadata.Name)
	}
	mounted := ""
	for _, m := range c.VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("no volume %s", m.Name)
		}
		if m.Name == p.Spec.Claims[0].Metadata.Name {
			mounted = m.MountPath
		}
	}
	if !strings.HasPrefix(after(c.Args, "--state"), mounted+"/") || mounted == "" {
		t.Errorf("its state is in %s, and its own volume at %s", after(c.Args, "--state"), mounted)
	}
	if p.Kind != "StatefulSet" || p.Spec.Template.Metadata.Labels["app"] != p.Spec.Selector.MatchLabels["app"] || slices.Contains(c.Args, "--host") {
		t.Error("a worker has no name of its own that stays")
	}
}

// claims are the names of those in a file that many pods can write to.
func claims(t *testing.T, file string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
		var c struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				Modes []string `yaml:"accessModes"`
			}
		}
		switch err := d.Decode(&c); {
		case errors.Is(err, io.EOF):
			return names
		case err != nil:
			t.Fatal(err)
		case c.Kind == "PersistentVolumeClaim" && slices.Contains(c.Spec.Modes, "ReadWriteMany"):
			names = append(names, c.Metadata.Name)
		}
	}
}

// TestComposeServer: the server of the compose file is the one that the tests run against, and
// has what the documentation asks for.
func TestComposeServer(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join("..", "devserver", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	tested := regexp.MustCompile(`go\.temporal\.io/server v(\S+)`).FindSubmatch(mod)
	if tested == nil {
		t.Fatal("the server of the tests has no version")
	}
	p := project(t)
	images := 0
	for name, s := range p.Services {
		if image, version, _ := strings.Cut(s.Image, ":"); strings.HasPrefix(image, "temporalio/") {
			if images++; version != string(tested[1]) {
				t.Errorf("%s has version %s, and the tests run against %s", name, version, tested[1])
			}
		}
	}
	s := p.Services["temporal"]
	if images != 3 || len(s.Configs) != 1 || s.Configs[0].Target != *s.Environment["DYNAMIC_CONFIG_FILE_PATH"] {
		t.Fatalf("%d images of Temporal, and the settings of the server are %+v", images, s.Configs)
	}
	var set map[string][]struct{ Value any }
	if err := yaml.Unmarshal([]byte(p.Configs[s.Configs[0].Source].Content), &set); err != nil {
		t.Fatal(err)
	}
	for _, want := range asked(t) {
		if v := set[want]; len(v) != 1 || v[0].Value != true {
			t.Errorf("the documentation asks for %s, and it is %v", want, v)
		}
	}
}

// asked are the settings of the server that the documentation asks for.
func asked(t *testing.T) (names []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "run-on-temporal.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("Set `(frontend\\.\\w+)`").FindAllStringSubmatch(string(b), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Fatal("the documentation asks for nothing")
	}
	return names
}

// TestWorkersStart starts the real program against a real server with the arguments and
// the environment of both files: it takes work, and ends in order.
func TestWorkersStart(t *testing.T) {
	t.Parallel()
	program, server := os.Getenv("BELAY_TEMPORAL_PROGRAM"), os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" || server == "" {
		t.Skip("no programs: name them with BELAY_TEMPORAL_PROGRAM and BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	address := serve(t, server)
	w, env := project(t).Services["worker"], map[string]string{}
	for k, v := range w.Environment {
		env[k] = *v
	}
	t.Run("compose", func(t *testing.T) { starts(t, program, address, w.Command, env) })
	var p pod
	parsed(t, "worker.yaml", &p)
	c := p.Spec.Template.Spec.Containers[0]
	env = map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	t.Run("Kubernetes", func(t *testing.T) { starts(t, program, address, c.Args, env) })
}

// serve starts a server on eight ports of its own.
func serve(t *testing.T, program string) string {
	t.Helper()
	port := 18000 + os.Getpid()%200*8
	cmd := exec.Command(program, "-db", filepath.Join(t.TempDir(), "t.db"), "-port", fmt.Sprint(port))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is wanted any more
		_ = cmd.Wait()         // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("the server says %q: %v", line, err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "ready "))
}

// starts runs a worker with what a file says; only paths, the address and the port are those of here.
func starts(t *testing.T, program, address string, args []string, env map[string]string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close() // its number is wanted
	dir := t.TempDir()
	args = slices.Clone(args)
	args[slices.Index(args, "--state")+1], args[slices.Index(args, "--listen")+1] = filepath.Join(dir, "state"), at
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	for name, v := range env {
		switch {
		case name == "TEMPORAL_ADDRESS":
			v = address
		case strings.HasPrefix(v, "/"):
			v = filepath.Join(dir, v)
		}
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + at + "/healthz"); err == nil {
			_ = resp.Body.Close() // its code is wanted
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) || len(ended) > 0 {
			_ = cmd.Process.Kill() // it has ended, or never will
			t.Fatalf("it takes no work: %v %s", <-ended, &said)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it is there: it answered
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v: %s", err, &said)
	}
}

// TestContainerfile: what it builds and copies is there, and it starts what the other files
// give arguments to.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`RUN cd (\S+) && .*go build .* (\./\S+)`).FindAllStringSubmatch(string(b), -1) {
		if _, err := os.Stat(filepath.Join("..", "..", m[1], m[2], "main.go")); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{`ENTRYPOINT ["belay-temporal"]`, "-o /belay-temporal ./cmd/belay-temporal", "COPY --from=build /belay-temporal ", "install -d -m 700 -o node -g node /state"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q", want)
		}
	}
}
