// The exchange that a cell runs through a relay, with the same code in Node and in a page.

import * as Moq from "@moq/net";

const LIMIT = 6000; // ms for any one step
const FRAME_SIZES = [12, 3000, 70_000]; // bytes: a packet, a few, more than a qmux record

// transfer publishes a broadcast on one connection, watches it on others, and throws an
// Error that says which step went wrong. connect() opens a connection. Not every version and
// transport can show everything: steps names those of "datagrams" and "end" that are wanted.
// It returns what was negotiated.
export async function transfer({ connect, name, steps }) {
	const opened = [];
	const open = async () => {
		const c = await within(connect(), "connect");
		opened.push(c);
		return c;
	};
	try {
		const publisher = await open();
		const viewer = await open();
		const source = publish(publisher, name);
		const seen = await watch(viewer, name);
		await groupsInOrder(source, seen, 5);
		await lateJoin(source, seen, await open(), name);
		if (steps.includes("datagrams")) await datagramsKeepNumbers(source, seen);
		if (steps.includes("end")) await endOfTrack(source, seen);
		await endOfBroadcast(source, seen);
		return { version: viewer.version, transport: viewer.transport };
	} finally {
		for (const c of opened) c.close();
	}
}

function publish(connection, name) {
	const broadcast = new Moq.Broadcast.Producer();
	const track = broadcast.createTrack("data");
	connection.publish(Moq.Path.from(name), broadcast);
	return { broadcast, track };
}

// watch waits for exactly this broadcast and subscribes to its track.
async function watch(connection, name) {
	const announced = connection.announced();
	await announcement(announced, name, true);
	const track = connection.consume(Moq.Path.from(name)).track("data").subscribe();
	return { name, announced, track };
}

async function announcement(announced, name, active) {
	for (;;) {
		const event = await within(announced.next(), `announcement of ${name}, active ${active}`);
		if (event === undefined) throw new Error("the announcements ended");
		if (event.path === name && event.active === active) return;
	}
}

// groupsInOrder sends whole groups, one after the other: the next only when the last has
// arrived, so that a relay has no reason to skip any.
async function groupsInOrder(source, seen, count) {
	await within(used(source.track), "subscription at the publisher");
	for (let i = 0; i < count; i++) {
		const sent = source.track.appendGroup();
		for (const size of FRAME_SIZES) sent.writeFrame(frame(sent.sequence, size));
		sent.close();
		const got = await nextGroup(seen.track, sent.sequence);
		for (const size of FRAME_SIZES) await expectFrame(got, size);
		await expectEnd(got);
	}
}

async function used(track) {
	while (!track.used.peek()) await new Promise((resolve) => track.used.subscribe(resolve));
}

// lateJoin shows that a viewer who comes in the middle of a group gets all of it.
async function lateJoin(source, seen, connection, name) {
	const sent = source.track.appendGroup();
	sent.writeFrame(frame(sent.sequence, 100));
	sent.writeFrame(frame(sent.sequence, 200));
	const early = await nextGroup(seen.track, sent.sequence);
	await expectFrame(early, 100);
	await expectFrame(early, 200);

	const late = await watch(connection, name);
	const group = await nextGroup(late.track, sent.sequence);
	await expectFrame(group, 100);
	await expectFrame(group, 200);

	sent.writeFrame(frame(sent.sequence, 300));
	sent.close();
	for (const g of [early, group]) {
		await expectFrame(g, 300);
		await expectEnd(g);
	}
	late.track.close();
}

async function datagramsKeepNumbers(source, seen) {
	for (let i = 0; i < 5; i++) {
		const payload = new Uint8Array([i, 2 * i, 3 * i]);
		const sequence = source.track.appendDatagram(Moq.Time.Timestamp.now(), payload);
		const got = await within(seen.track.recvDatagram(), `datagram ${sequence}`);
		if (got === undefined) throw new Error(`the track ended before datagram ${sequence}`);
		if (got.sequence !== sequence) throw new Error(`datagram ${got.sequence}, want ${sequence}`);
		if (String(got.payload) !== String(payload)) throw new Error(`datagram ${sequence} holds ${got.payload}`);
	}
}

async function endOfTrack(source, seen) {
	const end = seen.track.recvGroup();
	source.track.close();
	const got = await within(end, "end of the track");
	if (got !== undefined) throw new Error(`group ${got.sequence} after the last one`);
}

async function endOfBroadcast(source, seen) {
	source.broadcast.close();
	await announcement(seen.announced, seen.name, false);
}

async function nextGroup(track, sequence) {
	const group = await within(track.recvGroup(), `group ${sequence}`);
	if (group === undefined) throw new Error(`the track ended before group ${sequence}`);
	if (group.sequence !== sequence) throw new Error(`group ${group.sequence}, want ${sequence}`);
	return group;
}

// frame is a payload that only this group and size have.
function frame(sequence, size) {
	return { payload: payload(sequence, size), timestamp: Moq.Time.Timestamp.now() };
}

function payload(sequence, size) {
	const bytes = new Uint8Array(size);
	for (let i = 0; i < size; i++) bytes[i] = (sequence * 31 + size + i * 7) & 0xff;
	return bytes;
}

async function expectFrame(group, size) {
	const what = `frame of ${size} bytes in group ${group.sequence}`;
	const got = await within(group.readFrame(), what);
	if (got === undefined) throw new Error(`the group ended before the ${what}`);
	const want = payload(group.sequence, size);
	const same = got.payload.length === size && want.every((b, i) => b === got.payload[i]);
	if (!same) throw new Error(`${what} arrived as ${got.payload.length} other bytes`);
}

async function expectEnd(group) {
	const more = await within(group.readFrame(), `end of group ${group.sequence}`);
	if (more !== undefined) throw new Error(`group ${group.sequence} has a frame too many`);
}

function within(promise, what) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${what}: not within ${LIMIT} ms`)), LIMIT);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
