// Publishes the camera and the microphone with @moq/publish.

import "@moq/publish/element";
import { only, query } from "../query.mjs";

only(query.transport);
const publish = document.createElement("moq-publish");
const preview = document.createElement("video");
preview.muted = preview.autoplay = true;
publish.append(preview);
for (const name of ["url", "name"]) publish.setAttribute(name, query[name]);
publish.setAttribute("source", "camera");
document.body.append(publish);
