// Devserver is a Temporal server for tests and trials: one process on the loopback,
// with a file as its store, so that it can be killed and come back, and with the
// pace of the stock development server taken off. It is no production server.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

func main() {
	db := flag.String("db", "", "the file of the store")
	ip := flag.String("ip", "127.0.0.1", "the address that it listens at, alone")
	port := flag.Int("port", 7233, "the port of the frontend; the seven after it are used, too")
	namespace := flag.String("namespace", "default", "a namespace that is there from the start")
	flag.Parse()
	if err := serve(*db, *ip, *port, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func serve(db, ip string, port int, namespace string) error {
	if db == "" {
		return fmt.Errorf("name the file of the store with -db")
	}
	cfg := configure(db, ip, port)
	store := cfg.Persistence.DataStores[sqliteplugin.PluginName].SQL
	if _, err := os.Stat(db); os.IsNotExist(err) {
		if err := sqlite.SetupSchema(store); err != nil {
			return fmt.Errorf("make the store: %w", err)
		}
	}
	ns, err := sqlite.NewNamespaceConfig(cfg.ClusterMetadata.CurrentClusterName, namespace, false, nil)
	if err != nil {
		return err
	}
	if err := sqlite.CreateNamespaces(store, ns); err != nil {
		return fmt.Errorf("make the namespace: %w", err)
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: false, Level: "fatal"}))
	srv, err := temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.TransferProcessorMaxPollRPS.Key():             2000,
			dynamicconfig.TimerProcessorMaxPollRPS.Key():                2000,
			dynamicconfig.VisibilityProcessorMaxPollRPS.Key():           2000,
			dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		}),
	)
	if err != nil {
		return err
	}
	if err := srv.Start(); err != nil {
		return err
	}
	fmt.Printf("ready %s:%d\n", ip, port)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	return srv.Stop()
}

// configure is one cluster with one shard in one process. The pragmas have no
// underscore before their names: with one they are taken for nothing. It has eight
// ports, from the first on: one that comes back under other ports waits for its own
// dead members for most of a minute.
func configure(db, ip string, port int) *config.Config {
	cfg := &config.Config{}
	cfg.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: ip}
	cfg.Persistence = config.Persistence{
		DefaultStore: sqliteplugin.PluginName, VisibilityStore: sqliteplugin.PluginName, NumHistoryShards: 1,
		DataStores: map[string]config.DataStore{sqliteplugin.PluginName: {SQL: &config.SQL{
			PluginName: sqliteplugin.PluginName, DatabaseName: db,
			ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "2"},
		}}},
	}
	front := fmt.Sprintf("%s:%d", ip, port)
	cfg.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
		ClusterInformation: map[string]cluster.ClusterInformation{
			"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: front},
		},
	}
	cfg.DCRedirectionPolicy = config.DCRedirectionPolicy{Policy: "noop"}
	cfg.Services = map[string]config.Service{}
	for i, name := range []string{"frontend", "history", "matching", "worker"} {
		cfg.Services[name] = config.Service{RPC: config.RPC{GRPCPort: port + i, MembershipPort: port + 4 + i, BindOnIP: ip}}
	}
	cfg.Archival = config.Archival{
		History:    config.HistoryArchival{State: "disabled"},
		Visibility: config.VisibilityArchival{State: "disabled"},
	}
	cfg.NamespaceDefaults = config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
		History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
		Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
	}}
	cfg.PublicClient = config.PublicClient{HostPort: front}
	return cfg
}
