package demo

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"
	"time"
)

func TestPicturesMove(t *testing.T) {
	c := newPainter()
	seen := make(map[string]bool)
	for n := range uint64(3) {
		picture, err := c.paint(n, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := img.Bounds(), image.Rect(0, 0, Width, Height); got != want {
			t.Errorf("picture %d is %v, want %v", n, got, want)
		}
		seen[string(picture)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different pictures of 3", len(seen))
	}
}

// A bouncing square that leaves the canvas, or a bar that is missing, would show the
// colour below.
func TestPictureIsCovered(t *testing.T) {
	c := newPainter()
	for n := range uint64(2000) {
		c.bars(n)
		for x := range Width {
			if c.canvas.RGBAAt(x, 0) == (black) || c.canvas.RGBAAt(x, 0).A == 0 {
				t.Fatalf("picture %d has no bar at %d", n, x)
			}
		}
		c.fill(c.canvas.Bounds(), black)
	}
}

func TestDigits(t *testing.T) {
	c := newPainter()
	c.write("1", image.Pt(0, 0), 1, white)
	want := []string{".#.", "##.", ".#.", ".#.", "###"}
	for y, row := range want {
		for x, dot := range row {
			if lit := c.canvas.RGBAAt(x, y) == white; lit != (dot == '#') {
				t.Errorf("dot %d,%d lit: %v", x, y, lit)
			}
		}
	}
}

func TestBounce(t *testing.T) {
	for n, want := range []int{0, 1, 2, 3, 2, 1, 0, 1} {
		if got := bounce(uint64(n), 3); got != want {
			t.Errorf("bounce(%d, 3) = %d, want %d", n, got, want)
		}
	}
}
