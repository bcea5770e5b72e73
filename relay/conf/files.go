package conf

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/moqmesh/moqmesh/internal/config"
)

// missingFiles looks at the files that r names: certificates must fit their
// keys, CA files must hold a certificate, the rest must be there.
func missingFiles(r Relay) config.Problems {
	var c checker
	c.keyPairs("listen.tls.cert", r.Listen.TLS.Cert, r.Listen.TLS.Key)
	c.keyPairs("web.https.cert", r.Web.HTTPS.Cert, r.Web.HTTPS.Key)
	if r.Connect.TLS.Cert != "" && r.Connect.TLS.Key != "" {
		c.keyPairs("connect.tls.cert", []string{r.Connect.TLS.Cert}, []string{r.Connect.TLS.Key})
	}
	c.roots("listen.tls.root", r.Listen.TLS.Root)
	c.roots("web.https.root", r.Web.HTTPS.Root)
	c.roots("connect.tls.root", r.Connect.TLS.Root)
	c.exists("auth.key", local(r.Auth.Key), false)
	c.exists("auth.key_dir", local(r.Auth.KeyDir), true)
	c.exists("cluster.token", r.Cluster.Token, false)
	c.exists("cluster.connect_api", strings.TrimPrefix(local(r.Cluster.ConnectAPI), "file://"), false)
	c.exists("quic.qlog", r.QUIC.QLog, true)
	return c.found
}

// keyPairs leaves lists of different lengths to the validation.
func (c *checker) keyPairs(key string, certs, keys []string) {
	for i := range min(len(certs), len(keys)) {
		_, err := tls.LoadX509KeyPair(certs[i], keys[i])
		c.fail(err != nil, key, "read %s with %s: %v", certs[i], keys[i], err)
	}
}

func (c *checker) roots(key string, files []string) {
	for _, name := range files {
		pem, err := os.ReadFile(name)
		if err != nil {
			c.fail(true, key, "read the CA file: %v", err)
			continue
		}
		c.fail(!x509.NewCertPool().AppendCertsFromPEM(pem), key, "%s holds no certificate in PEM form", name)
	}
}

func (c *checker) exists(key, name string, directory bool) {
	if name == "" {
		return
	}
	info, err := os.Stat(name)
	if err != nil {
		c.fail(true, key, "%v", err)
		return
	}
	c.fail(info.IsDir() && !directory, key, "%s is a directory, want a file", name)
	c.fail(!info.IsDir() && directory, key, "%s is a file, want a directory", name)
}

// local gives what is a path, and "" for a URL of the web.
func local(place string) string {
	if strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://") {
		return ""
	}
	return place
}
