package lite

// HasAnnounceInit reports whether an announce stream starts with [AnnounceInit].
func (v Version) HasAnnounceInit() bool { return v <= V02 }

// HasSubscribeUpdate reports whether a subscription carries a max age and a
// group range, which [SubscribeUpdate] changes.
func (v Version) HasSubscribeUpdate() bool { return v >= V03 }

// HasProbe reports whether probe streams exist.
func (v Version) HasProbe() bool { return v >= V03 }

// HasHopIDs reports whether announcements list the ids of their hops; 03 only
// counts them, 01 and 02 know none.
func (v Version) HasHopIDs() bool { return v >= V04 }

// HasExcludeHop reports whether [AnnounceRequest] names a hop to leave out.
func (v Version) HasExcludeHop() bool { return v == V04 || v == V05 }

// HasGoaway reports whether goaway streams exist.
func (v Version) HasGoaway() bool { return v >= V04 }

// HasSetup reports whether each side opens a setup stream with [Setup].
func (v Version) HasSetup() bool { return v >= V05 }

// HasAnnounceOK reports whether an announce stream starts with [AnnounceOK],
// and with it that the receiver adds the sender's hop.
func (v Version) HasAnnounceOK() bool { return v >= V05 }

// HasTrackInfo reports whether track streams exist.
func (v Version) HasTrackInfo() bool { return v >= V05 }

// HasFetch reports whether fetch streams exist. 03 and 04 define the message,
// but peers refuse it there.
func (v Version) HasFetch() bool { return v >= V05 }

// HasTimestamps reports whether frames carry a timestamp.
func (v Version) HasTimestamps() bool { return v >= V05 }

// HasDatagrams reports whether groups of one frame may travel as datagrams.
func (v Version) HasDatagrams() bool { return v >= V05 }

// HasAnnounceIDs reports whether announcements are typed and numbered:
// [AnnounceStart], [AnnounceEnd], [AnnounceUpdate] instead of [Announce].
func (v Version) HasAnnounceIDs() bool { return v >= V06WIP }

// HasCost reports whether announcements carry a [Cost]; 06-wip has room for one
// number only.
func (v Version) HasCost() bool { return v >= V06WIP }

// HasFrameBounds reports whether SUBSCRIBE, FETCH and GROUP can name frames
// inside a group, and with it that a group start is a plain floor.
func (v Version) HasFrameBounds() bool { return v >= V06 }

// HasHidden reports whether [AnnounceRequest] can ask for hidden names.
func (v Version) HasHidden() bool { return v >= V07WIP }

// HasCompression reports whether announcements refer to earlier ones of their
// stream; see [AnnounceCompressor].
func (v Version) HasCompression() bool { return v >= V07WIP }

// hasOrdered reports whether messages hold the byte "ordered", which is written
// as 0 and ignored.
func (v Version) hasOrdered() bool { return V03 <= v && v <= V06WIP }

// hasTwoCosts reports whether warm and cold cost travel apart.
func (v Version) hasTwoCosts() bool { return v >= V06 }
