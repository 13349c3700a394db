package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
)

// gate is a server in front of Temporal, as a cloud service has one: it is reached by
// TLS, and wants a certificate or a key.
type gate struct {
	*httptest.Server
	let  atomic.Int64 // requests that went through
	sent atomic.Int64 // requests with another key, or none
}

// newGate stands in front of a server. pool has those who sign certificates of clients;
// nil asks for none. key is what every request must have; "" asks for none.
func newGate(t *testing.T, addr string, pool *x509.CertPool, key string) *gate {
	t.Helper()
	plain := &http.Protocols{}
	plain.SetUnencryptedHTTP2(true)
	g := &gate{}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: addr}) },
		Transport:     &http.Transport{Protocols: plain},
		FlushInterval: -1,
		ErrorLog:      log.New(&heard{}, "", 0), // a poll that is given up is no news
	}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			g.sent.Add(1)
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "16") // unauthenticated
			w.Header().Set("Grpc-Message", "no such key")
			return
		}
		g.let.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	g.EnableHTTP2, g.Config.ErrorLog = true, log.New(&heard{}, "", 0)
	g.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if pool != nil {
		g.TLS.ClientAuth, g.TLS.ClientCAs = tls.RequireAndVerifyClientCert, pool
	}
	g.StartTLS()
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

func (g *gate) address() string { return g.Listener.Addr().String() }

// authority writes the certificate that a client has to trust.
func (g *gate) authority(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "server-ca.pem")
	put(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw})))
	return file
}

// identity makes an authority and a client's certificate that it signed.
func identity(t *testing.T, dir string) (pool *x509.CertPool, cert, key string) {
	t.Helper()
	make := func(name string, ca bool, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: ca, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		if parent == nil {
			parent, by = c, own
		}
		raw, err := x509.CreateCertificate(rand.Reader, c, parent, &own.PublicKey, by)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = x509.ParseCertificate(raw); err != nil {
			t.Fatal(err)
		}
		return c, own
	}
	ca, caKey := make("an authority", true, nil, nil)
	own, ownKey := make("a client", false, ca, caKey)
	der, err := x509.MarshalPKCS8PrivateKey(ownKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client-key.pem")
	put(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Raw})))
	put(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	pool = x509.NewCertPool()
	pool.AddCert(ca)
	return pool, cert, key
}

// TestServerIsReachedByTLS drives a run through a server that is reached by TLS: with a
// server's authority, with a certificate of the client, and with an API key; and each of
// them is refused when it is missing or wrong.
//
// promise: X
func TestServerIsReachedByTLS(t *testing.T) {
	addr := address(t)
	dir := t.TempDir()
	pool, cert, certKey := identity(t, dir)
	mine := []string{"TEMPORAL_TLS_CLIENT_CERT_PATH=" + cert, "TEMPORAL_TLS_CLIENT_KEY_PATH=" + certKey}
	const secret = "the-key-of-the-test"
	for _, c := range []struct {
		name string
		pool *x509.CertPool
		key  string
		env  []string   // what is needed
		bad  [][]string // what is not enough
	}{
		{"authority of the server", nil, "", nil, [][]string{{"TEMPORAL_TLS_SERVER_CA_CERT_PATH="}, {"TEMPORAL_TLS=false", "TEMPORAL_TLS_SERVER_CA_CERT_PATH="}}},
		{"certificate of the client", pool, "", mine, [][]string{{"TEMPORAL_TLS_CLIENT_CERT_PATH=", "TEMPORAL_TLS_CLIENT_KEY_PATH="}}},
		{"API key", nil, secret, []string{"TEMPORAL_API_KEY=" + secret}, [][]string{{"TEMPORAL_API_KEY="}, {"TEMPORAL_API_KEY=another"}}},
		{"certificate and API key", pool, secret, append(mine, "TEMPORAL_API_KEY="+secret), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t, addr, c.pool, c.key)
			s := newSite(t, g.address(), "name: n\nsteps:\n- {id: a, command: 'echo x >> starts'}\n- {id: b, command: env}\n")
			s.env = append(append(s.env, "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+g.authority(t, s.dir)), c.env...)
			s.worker(nil)
			s.must("run", "recipe.yaml", "--id", "t1"+s.host)
			if n := s.lines("starts"); n != 1 || g.let.Load() == 0 {
				t.Errorf("the step ran %d times, and %d requests went through the gate", n, g.let.Load())
			}
			if g.sent.Load() > 0 {
				t.Errorf("%d requests had no key", g.sent.Load())
			}
			if out := s.must("logs", "t1"+s.host, "b"); !strings.Contains(out, "BELAY_") || strings.Contains(out, secret) {
				t.Error("the log of a step that prints its environment has the API key, or is empty")
			}
			for _, bad := range c.bad {
				id := "t2" + s.host
				code, out := s.do(bad, "run", "recipe.yaml", "--id", id)
				if code != int(exit.Infra) || !strings.Contains(out, "reach Temporal at "+g.address()) {
					t.Errorf("with %q: exit %d, %s", bad, code, out)
				}
			}
			if c.key != "" && len(c.bad) > 0 && g.sent.Load() == 0 {
				t.Error("no request with a wrong key came to the gate")
			}
		})
	}
}
