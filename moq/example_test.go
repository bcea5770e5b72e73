package moq_test

import (
	"context"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// A publisher creates tracks, writes groups, and announces the broadcast.
func ExampleOrigin_Publish() {
	origin := moq.NewOrigin(1, moq.NewCache(64<<20))
	b := moq.NewBroadcast(origin.Cache(), nil)
	chat, err := b.Create("chat", moq.TrackInfo{Timescale: 1000, MaxAge: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := origin.Publish("room/alice", b)
	defer a.Withdraw()

	// A group at once, or frame by frame.
	chat.WriteGroup(0, moq.Frame{Timestamp: 0, Payload: []byte("hello")})
	g, _ := chat.Group(1)
	g.WriteFrame(moq.Frame{Timestamp: 500, Payload: []byte("how are")})
	g.WriteFrame(moq.Frame{Timestamp: 900, Payload: []byte("you?")})
	g.Close()
	chat.Finish()

	fmt.Println(origin.Paths("room", moq.Reader{}))
	// Output: [room/alice]
}

// A viewer waits for the broadcast, subscribes, and reads group by group. Over a
// network the origin is filled by a session instead of by the publisher.
func ExampleBroadcast_Subscribe() {
	origin := moq.NewOrigin(1, moq.NewCache(64<<20))
	publish(origin)

	ctx := context.Background()
	news := origin.Watch("room", moq.Reader{})
	defer news.Close()
	ev, err := news.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := ev.Broadcast.Subscribe(moq.TrackKey{Name: "chat"}, moq.SubscribeOptions{
		Start:  moq.Start{Kind: moq.StartFresh},
		MaxAge: 5 * time.Second,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for {
		g, ok, err := s.NextGroup(ctx)
		if err != nil || !ok {
			fmt.Println("end:", err)
			return
		}
		for f, ok, err := g.ReadFrame(ctx); ok && err == nil; f, ok, err = g.ReadFrame(ctx) {
			fmt.Printf("%s %d: %s\n", ev.Path, g.Sequence(), f.Payload)
		}
	}
	// Output:
	// room/alice 0: hello
	// room/alice 1: goodbye
	// end: <nil>
}

func publish(origin *moq.Origin) {
	b := moq.NewBroadcast(origin.Cache(), nil)
	chat, err := b.Create("chat", moq.TrackInfo{Timescale: 1000, MaxAge: 10 * time.Second})
	if err != nil {
		panic(err)
	}
	chat.WriteGroup(0, moq.Frame{Payload: []byte("hello")})
	chat.WriteGroup(1, moq.Frame{Timestamp: 1000, Payload: []byte("goodbye")})
	chat.Finish()
	origin.Publish("room/alice", b)
}
