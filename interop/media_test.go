package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mediaCells sends a real file through the relay with the moq program: in by import, out by
// export and fetch.
func mediaCells(t *testing.T, r *relay) {
	for _, c := range []struct{ scheme, version string }{
		{"moql", "moq-lite-02"},
		{"moqt", "moq-lite-03"},
		{"moqt", "moq-lite-04"},
		{"moqt", "moq-lite-05"},
		{"moqt", "moq-lite-06"},
		{"moqt", "moq-lite-07-wip"},
		{"https", "moq-lite-06"},
		{"ws", "moq-lite-05"},
	} {
		t.Run("export/"+c.scheme+"/"+c.version, func(t *testing.T) {
			exportCell(t, r.offering(t, c.version), c.scheme, c.version)
		})
	}
	t.Run("fetch", func(t *testing.T) { fetchCell(t, r) })
}

const clipSeconds = 3

// clip is a fragmented MP4 with moving video and stereo sound, made once in a run. Fragments
// are cut by time, since ffmpeg cutting at every frame repeats a decode time that moq import
// refuses, and at key frames, since a player starts with the first frame of a group. The sound is stereo because @moq/watch's audio clock stands still on mono.
func clip(t *testing.T) string {
	t.Helper()
	path, err := makeClip(tool(t, "ffmpeg"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var makeClip = func() func(ffmpeg string) (string, error) {
	var once sync.Once
	var path string
	var err error
	return func(ffmpeg string) (string, error) {
		once.Do(func() { path, err = newClip(ffmpeg) })
		return path, err
	}
}()

func newClip(ffmpeg string) (string, error) {
	dir, err := os.MkdirTemp("", "moqmesh-clip-")
	if err != nil {
		return "", err
	}
	cleanups = append(cleanups, func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "clip.mp4")
	args := []string{
		"-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25",
		"-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", strconv.Itoa(clipSeconds),
		"-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-profile:v", "baseline",
		"-pix_fmt", "yuv420p", "-g", "25", "-c:a", "aac", "-b:a", "64k", "-ac", "2",
	}
	args = append(append(args, fragmented...), path)
	if out, err := exec.Command(ffmpeg, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the clip: %w\n%s", err, out)
	}
	return path, nil
}

var fragmented = []string{"-movflags", "cmaf+frag_keyframe", "-frag_duration", "100000", "-f", "mp4"}

// moq prepares the moq program for a broadcast on the relay.
func moq(t *testing.T, r *relay, scheme, version, name string, args ...string) *exec.Cmd {
	t.Helper()
	all := []string{"--connect", r.url(scheme), "--connect-tls-fingerprint", r.fingerprint, "--broadcast", name}
	if version != "" {
		all = append(all, "--connect-version", version)
	}
	return exec.Command(peer(t, "moq"), append(all, args...)...)
}

// importing is a clip on its way into the relay.
type importing struct {
	player *process // ffmpeg, which ends with the clip
	stdin  *os.File // of moq import, which publishes until this is closed
}

// importClip publishes the clip in real time, loops times.
func importClip(t *testing.T, r *relay, scheme, version, name string, loops int) importing {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	play := exec.Command(tool(t, "ffmpeg"), append([]string{
		"-loglevel", "error", "-re", "-stream_loop", strconv.Itoa(loops - 1), "-i", clip(t), "-c", "copy",
	}, append(fragmented, "-")...)...)
	play.Stdout = in
	publish := moq(t, r, scheme, version, name, "import", "fmp4")
	publish.Stdin = out
	start(t, "import", publish)
	out.Close() // moq import holds its own
	return importing{player: start(t, "ffmpeg", play), stdin: in}
}

// exportCell sends the clip in and out, and demands every packet of both tracks. moq import
// closes its session as soon as its input ends, without waiting for its last bytes to be
// read, so its input is held open until all but the last fragment has come out. A clean end
// of moq export must then mean the whole clip. Before lite-05 the end of a track is not on
// the wire, and the export may end in an error: that may cost the last fragment, no more.
func exportCell(t *testing.T, r *relay, scheme, version string) {
	name := unique("clip") + ".hang"
	path := filepath.Join(t.TempDir(), "out.mp4")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := moq(t, r, scheme, version, name, "export", "fmp4", "--max-age", "30s", "--fragment-duration", "100ms")
	cmd.Stdout = file
	export := start(t, "export", cmd)
	export.awaitLog(t, "connected version="+version)

	want, err := probe(t, clip(t))
	if err != nil {
		t.Fatal(err)
	}
	in := importClip(t, r, scheme, version, name, 1)
	in.player.succeed(t, clipSeconds*time.Second+10*time.Second)
	eventually(t, 10*time.Second, "the clip comes out", func() error {
		got, err := probe(t, path)
		if err == nil && !got.reaches(want) {
			err = fmt.Errorf("%v of %v packets", got.packets, want.packets)
		}
		return err
	})
	in.stdin.Close()
	ended := export.wait(15 * time.Second)
	if export.running() {
		t.Fatal(ended)
	}
	got, err := probe(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if ended != nil && got.reaches(want) {
		got.packets = want.packets // cut off, but only in its last fragment
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(media{}, form{})); diff != "" {
		t.Errorf("the export differs from the clip (-clip +export):\n%s", diff)
	}
}

// reaches says whether m has all of want but what the last fragment of a live stream holds.
func (m media) reaches(want media) bool {
	const heldBack = 6 // packets of a track in a fragment
	for track, n := range want.packets {
		if got := m.packets[track]; got < n-heldBack || got > n {
			return false
		}
	}
	return true
}

// awaitLog waits until the program has logged the text.
func (p *process) awaitLog(t *testing.T, text string) {
	t.Helper()
	eventually(t, 10*time.Second, p.name+" logs "+text, func() error {
		if bytes.Contains(p.tail(), []byte(text)) {
			return nil
		}
		return errNotYet
	})
}

// media is what ffprobe found in a file.
type media struct {
	form
	packets map[string]int // by kind of track: video, audio
}

// form is what has to stay the same whatever is lost.
type form struct {
	video, audio  string // codecs
	width, height int
	channels      int
}

// probe describes a file and counts what each track holds. A file without a header, as it is
// before the first fragment, is an error.
func probe(t *testing.T, path string) (media, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tool(t, "ffprobe"), "-v", "error", "-count_packets",
		"-show_entries", "stream=codec_name,codec_type,width,height,channels,nb_read_packets", "-of", "json", path).Output()
	if err != nil {
		return media{}, fmt.Errorf("ffprobe %s: %w", path, err)
	}
	var probed struct {
		Streams []struct {
			Name     string `json:"codec_name"`
			Type     string `json:"codec_type"`
			Width    int    `json:"width"`
			Height   int    `json:"height"`
			Channels int    `json:"channels"`
			Packets  int    `json:"nb_read_packets,string"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(out, &probed); err != nil {
		return media{}, fmt.Errorf("ffprobe %s: %w", path, err)
	}
	m := media{packets: map[string]int{}}
	for _, s := range probed.Streams {
		m.packets[s.Type] += s.Packets
		switch s.Type {
		case "video":
			m.video, m.width, m.height = s.Name, s.Width, s.Height
		case "audio":
			m.audio, m.channels = s.Name, s.Channels
		}
	}
	return m, nil
}

// fetchCell reads the catalog and one group of a live broadcast, with moq fetch and over
// HTTP, and demands the same bytes from both.
func fetchCell(t *testing.T, r *relay) {
	name := unique("fetch") + ".hang"
	importClip(t, r, "moqt", "", name, 100)
	r.awaitAnnounced(t, name)

	track := videoTrack(t, moq(t, r, "moqt", "", name, "fetch", "catalog.json"))
	group := "/fetch/" + name + "/" + track + "?group=1"
	var overHTTP string
	eventually(t, 10*time.Second, "GET "+group, func() (err error) {
		overHTTP, err = r.get(group)
		return err
	})
	overMoQ := run(t, "fetch", 10*time.Second, moq(t, r, "moqt", "", name, "fetch", track, "--group", "1"))
	if !bytes.Contains(overMoQ, []byte("moof")) || overHTTP != string(overMoQ) {
		t.Errorf("group 1 of %s: %d bytes by moq fetch, %d over HTTP, want the same fragments",
			track, len(overMoQ), len(overHTTP))
	}
}

// videoTrack is the name of a video track in the catalog, of the hang format, that the
// command writes. The command need not end: the newest group of a catalog stays open.
func videoTrack(t *testing.T, fetch *exec.Cmd) string {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	fetch.Stdout = in
	p := start(t, "fetch-catalog", fetch)
	in.Close()
	defer p.stop()
	out.SetReadDeadline(time.Now().Add(10 * time.Second))
	var catalog struct {
		Video struct {
			Renditions map[string]any `json:"renditions"`
		} `json:"video"`
	}
	if err := json.NewDecoder(out).Decode(&catalog); err != nil {
		t.Fatalf("catalog: %v", err)
	}
	for name := range catalog.Video.Renditions {
		return name
	}
	t.Fatalf("no video in the catalog %+v", catalog)
	return ""
}
