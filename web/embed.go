// Package web holds the pages and ES modules that browsers load.
package web

import "embed"

// Files are the pages as they are served, index.html at the root.
//
//go:embed index.html icon.svg watch.css watch.js meter.js moq.js bytes.js qmux/*.js
var Files embed.FS
