package config

import "strings"

// nearest gives the name that was most likely meant, or "" when none is close.
// Letters of the other case count as half an edit, so a key that is wrong
// only in its case is found first.
func nearest(name string, known []string) string {
	best, bestCost := "", 2*max(2, len(name)/4)+1
	for _, k := range known {
		if c := edits(name, k); c < bestCost {
			best, bestCost = k, c
		}
	}
	return best
}

// sameLast gives the only known name that ends in the same last part: the
// right key in the wrong table.
func sameLast(name string, known []string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	found := ""
	for _, k := range known {
		if k[strings.LastIndexByte(k, '.')+1:] == last {
			if found != "" {
				return ""
			}
			found = k
		}
	}
	return found
}

// edits is twice the edit distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = 2 * j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = 2 * (i + 1)
		for j := range len(b) {
			change := diagonal + substitution(a[i], b[j])
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+2, row[j+1]+2)
		}
	}
	return row[len(b)]
}

func substitution(a, b byte) int {
	switch {
	case a == b:
		return 0
	case a|0x20 == b|0x20:
		return 1
	}
	return 2
}

// meant is the hint behind an unknown name.
func meant(name string, known []string) string {
	guess := sameLast(name, known)
	if guess == "" {
		guess = nearest(name, known)
	}
	if guess == "" {
		return ""
	}
	return "; did you mean " + guess + "?"
}
