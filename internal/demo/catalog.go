package demo

// Names of the broadcast's tracks.
const (
	Track        = "video"
	CatalogTrack = "catalog.json"
)

// Catalog tells a page how to show the broadcast.
type Catalog struct {
	Format string  `json:"format"` // "mjpeg": a stamp and a JPEG in each frame
	Track  string  `json:"track"`  // where the pictures are
	Width  int     `json:"width"`  // of a picture, in pixels
	Height int     `json:"height"` // likewise
	Rate   float64 `json:"fps"`    // pictures a second
}

func catalog() Catalog {
	return Catalog{Format: "mjpeg", Track: Track, Width: Width, Height: Height, Rate: Rate}
}
