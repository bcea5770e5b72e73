// Watches a broadcast with @moq/watch and counts the pictures that really appear:
// window.pictures is the number of canvas contents that have a motif and differ from the
// one before.

import "@moq/watch/element";
import { only, query } from "../query.mjs";

const GRID = 24; // pixels looked at, each way

only(query.transport);
const watch = document.createElement("moq-watch");
const canvas = document.createElement("canvas");
watch.append(canvas);
for (const name of ["url", "name"]) watch.setAttribute(name, query[name]);
watch.setAttribute("muted", "");
watch.setAttribute("visible", "always");
document.body.append(watch);

window.pictures = 0;
window.size = () => [canvas.width, canvas.height];

const probe = new OffscreenCanvas(GRID, GRID).getContext("2d", { willReadFrequently: true });
let last = "";

function look() {
	requestAnimationFrame(look);
	if (canvas.width === 0 || canvas.height === 0) return;
	probe.drawImage(canvas, 0, 0, GRID, GRID);
	const luma = sample(probe.getImageData(0, 0, GRID, GRID).data);
	const picture = luma.join();
	if (Math.max(...luma) - Math.min(...luma) < 40 || picture === last) return;
	last = picture;
	window.pictures++;
}

// sample is the brightness of each pixel, in steps coarse enough to hide coding noise.
function sample(rgba) {
	const luma = [];
	for (let i = 0; i < rgba.length; i += 4) luma.push((rgba[i] + 2 * rgba[i + 1] + rgba[i + 2]) >> 5 << 3);
	return luma;
}

look();
