import { asText, isObject, refuse } from './json.ts';
import type { JsonObject } from './types.ts';

/** Image types that the Anthropic API takes as base64. */
const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Files that are text, whatever their type's first word says. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|x-ndjson)$|[^/]+\/[^/]+\+(?:json|xml)$)/;

interface DataUrl {
  mediaType: string;
  data: string;
}

/** Reads `data:<type>;<parameters>;base64,<data>`; null when it is no base64 data URL. */
function readDataUrl(url: string): DataUrl | null {
  const comma = url.indexOf(',');
  if (comma < 0 || !/^data:/i.test(url)) return null;
  const [type = '', ...parameters] = url.slice(5, comma).split(';');
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')) return null;
  return { mediaType: mediaTypeOf(type), data: url.slice(comma + 1) };
}

function mediaTypeOf(type: string): string {
  const lower = type.trim().toLowerCase();
  return lower === 'image/jpg' || lower === 'image/pjpeg' ? 'image/jpeg' : lower;
}

/** `image_url` of an OpenAI content part → Anthropic image block (T08, T09). Nothing is fetched. */
export function imageBlock(part: JsonObject, path: readonly PropertyKey[]): JsonObject {
  const url = asText(isObject(part.image_url) ? part.image_url.url : part.image_url);
  const field = [...path, 'image_url', 'url'];
  const data = readDataUrl(url);
  if (data !== null) {
    if (!IMAGE_TYPES.has(data.mediaType))
      refuse(`Images of type ${data.mediaType || 'unknown'} cannot be sent to this provider.`, field);
    return { type: 'image', source: { type: 'base64', media_type: data.mediaType, data: data.data } };
  }
  if (!/^https?:\/\//i.test(url)) refuse('An image must be an http(s) URL or a base64 data URL.', field);
  return { type: 'image', source: { type: 'url', url } };
}

/** Anthropic image block → OpenAI `image_url` part (T10). */
export function imagePart(block: JsonObject, path: readonly PropertyKey[]): JsonObject {
  const source = isObject(block.source) ? block.source : {};
  if (source.type === 'base64') {
    const url = `data:${mediaTypeOf(asText(source.media_type))};base64,${asText(source.data)}`;
    return { type: 'image_url', image_url: { url } };
  }
  if (source.type === 'url') return { type: 'image_url', image_url: { url: asText(source.url) } };
  return refuse('An image given by file id exists only at Anthropic.', [...path, 'source']);
}

/** `file` part of an OpenAI message → Anthropic document block. */
export function documentBlock(part: JsonObject, path: readonly PropertyKey[]): JsonObject {
  const file = isObject(part.file) ? part.file : {};
  const title = asText(file.filename);
  const withTitle = title === '' ? {} : { title };
  const raw = asText(file.file_data);
  const url = asText(file.file_url);
  if (raw === '' && url !== '') return { type: 'document', source: { type: 'url', url }, ...withTitle };
  if (raw === '' && asText(file.file_id) !== '')
    refuse('A file given by its id exists only at OpenAI; give it as base64 data.', [
      ...path,
      'file',
      'file_id',
    ]);
  // Some clients send the base64 alone; PDF is the only binary file that either side takes.
  const data =
    readDataUrl(raw) ??
    (raw === '' || raw.startsWith('data:') ? null : { mediaType: 'application/pdf', data: raw });
  if (data?.mediaType === 'application/pdf') {
    return {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: data.data },
      ...withTitle,
    };
  }
  if (data && TEXT_TYPE.test(data.mediaType)) {
    const text = Buffer.from(data.data, 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...withTitle };
  }
  if (data?.mediaType.startsWith('image/')) return imageBlock({ image_url: { url: raw } }, path);
  return refuse('Only PDF and text files given as base64 data can be sent to this provider.', [
    ...path,
    'file',
  ]);
}

/**
 * Anthropic document block → what an OpenAI message can carry: text, images, or a PDF as a `file` part. Its address is
 * nothing for a chat wire, but for the middle between two dialects.
 */
export function documentParts(
  block: JsonObject,
  path: readonly PropertyKey[],
  middle: boolean,
): JsonObject[] {
  const source = isObject(block.source) ? block.source : {};
  const head = [asText(block.title), asText(block.context)].filter((line) => line !== '').join('\n');
  const headed = (text: string): JsonObject => ({
    type: 'text',
    text: head === '' ? text : `${head}\n${text}`,
  });
  if (source.type === 'text') return [headed(asText(source.data))];
  if (source.type === 'content') {
    if (typeof source.content === 'string') return [headed(source.content)];
    const inner = Array.isArray(source.content) ? source.content.filter(isObject) : [];
    const parts = inner.map((item) =>
      item.type === 'image' ? imagePart(item, path) : { type: 'text', text: asText(item.text) },
    );
    return head === '' ? parts : [{ type: 'text', text: head }, ...parts];
  }
  if (source.type === 'base64' && source.media_type === 'application/pdf') {
    const filename = asText(block.title) || 'document.pdf';
    const file = { filename, file_data: `data:application/pdf;base64,${asText(source.data)}` };
    return [
      ...(asText(block.context) === '' ? [] : [{ type: 'text', text: asText(block.context) }]),
      { type: 'file', file },
    ];
  }
  if (source.type === 'url' && middle) {
    const file = { type: 'file', file: { file_url: asText(source.url) } };
    return head === '' ? [file] : [{ type: 'text', text: head }, file];
  }
  return refuse('This document cannot be sent to this provider: give it as text or as base64 PDF.', [
    ...path,
    'source',
  ]);
}

/** Anthropic search result → readable text. */
export function searchResultText(block: JsonObject): string {
  const inner = Array.isArray(block.content) ? block.content.filter(isObject) : [];
  return [asText(block.title), asText(block.source), ...inner.map((item) => asText(item.text))]
    .filter((line) => line !== '')
    .join('\n');
}
