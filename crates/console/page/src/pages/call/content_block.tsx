// One block of content. Images and audio are shown from the data of the result; nothing is fetched.

import { type Json, type JsonObject, isObject } from "../../json/json";
import { tryParse } from "../../json/parse";
import { bytes } from "../../text/format";
import { JsonTree } from "../../ui/json_tree";
import { Badge, CopyButton, ExternalLink } from "../../ui/parts";
import { Text } from "../../ui/text";

const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/;
const AUDIO = /^audio\/[a-z0-9.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

function textOf(block: JsonObject, name: string): string {
  const value = block.get(name);
  return typeof value === "string" ? value : "";
}

export function ContentBlock({ block }: { block: Json }) {
  if (!isObject(block)) return <JsonTree value={block} />;
  switch (block.get("type")) {
    case "text":
      return <TextBlock text={textOf(block, "text")} />;
    case "image":
    case "audio":
      return <Media mimeType={textOf(block, "mimeType")} data={textOf(block, "data")} />;
    case "resource_link":
      return (
        <div class="block">
          <div class="block-head"><Badge>link</Badge><strong><Text value={textOf(block, "title") || textOf(block, "name")} max={200} /></strong><span class="muted small"><Text value={textOf(block, "mimeType")} max={60} /></span></div>
          {textOf(block, "description") !== "" && <p class="muted"><Text value={textOf(block, "description")} expandable /></p>}
          <ExternalLink url={textOf(block, "uri")} />
        </div>
      );
    case "resource":
      return <ResourceContents contents={block.get("resource") ?? null} />;
    default:
      return <JsonTree value={block} />;
  }
}

/** A text; JSON in it can be seen as a tree. */
function TextBlock({ text }: { text: string }) {
  const looksLikeJson = /^\s*[[{]/.test(text) && text.length < 1_000_000;
  const value = looksLikeJson ? tryParse(text) : undefined;
  return (
    <div class="block">
      <div class="block-head"><Badge>{value === undefined ? "text" : "JSON in text"}</Badge><span class="muted small">{bytes(text.length)}</span><span class="head-space" /><CopyButton text={text} /></div>
      {value === undefined ? <pre class="block-text"><Text value={text} max={20_000} expandable /></pre> : <JsonTree value={value} depth={3} />}
    </div>
  );
}

export function ResourceContents({ contents }: { contents: Json }) {
  if (!isObject(contents)) return <JsonTree value={contents} />;
  const [uri, mimeType, blob] = [textOf(contents, "uri"), textOf(contents, "mimeType"), contents.get("blob")];
  return (
    <div class="block">
      <div class="block-head"><Badge>resource</Badge><code class="breaks"><Text value={uri} max={300} /></code><span class="muted small"><Text value={mimeType} max={60} /></span></div>
      {typeof blob === "string" ? <Media mimeType={mimeType} data={blob} /> : <TextBlock text={textOf(contents, "text")} />}
    </div>
  );
}

function Media({ mimeType, data }: { mimeType: string; data: string }) {
  const size = Math.floor((data.length * 3) / 4);
  const type = mimeType.toLowerCase();
  const isSafe = BASE64.test(data.slice(0, 1000));
  const url = `data:${type};base64,${data}`;
  return (
    <figure class="block">
      <figcaption class="block-head"><Badge><Text value={mimeType || "binary"} max={60} /></Badge><span class="muted small">{bytes(size)}</span><span class="head-space" />{isSafe && <SaveButton type={type} data={data} />}</figcaption>
      {isSafe && IMAGES.test(type) && <img class="media" src={url} alt={`${type} of the result`} />}
      {isSafe && AUDIO.test(type) && <audio class="media" controls src={url} />}
    </figure>
  );
}

function SaveButton({ type, data }: { type: string; data: string }) {
  const save = () => {
    const binary = atob(data.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/"));
    const array = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    saveBlob(new Blob([array], { type: "application/octet-stream" }), `result.${type.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin"}`);
  };
  return <button type="button" class="button tiny" onClick={save}>Save</button>;
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
