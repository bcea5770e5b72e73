//go:build race

package cluster_test

// raced says that the race detector runs, which makes large meshes take minutes.
const raced = true
