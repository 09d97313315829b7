import { asArray, asObject, asText, isObject } from './json.ts';
import type { JsonObject } from './types.ts';

/** Keywords of Anthropic's structured outputs that hold schemas. */
const LISTS = ['anyOf', 'allOf', 'oneOf'];
const MAPS = ['properties', '$defs', 'definitions'];

/** Keywords that Anthropic's structured outputs refuse (SDK 1.14: it moves them into the description, too). */
const REFUSED = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems
  minProperties maxProperties patternProperties propertyNames contains minContains maxContains prefixItems
  not if then else dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems`.split(/\s+/),
);
const FORMATS = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** True where every object lists all its properties as required and allows no other: OpenAI's terms for `strict`. */
export function fitsStrict(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  if (isObjectSchema(schema)) {
    const required = new Set(asArray(schema.required));
    if (schema.additionalProperties !== false) return false;
    if (!Object.keys(asObject(schema.properties)).every((name) => required.has(name))) return false;
  }
  return children(schema).every(fitsStrict);
}

/**
 * A schema in the form that Anthropic's structured outputs take: objects are closed, and limits that cannot be enforced
 * stand in the description for the model to read. `loosened`: something is asked for in words only.
 */
export function anthropicSchema(schema: JsonObject): { schema: JsonObject; loosened: boolean } {
  let loosened = false;
  const adapt = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const out: JsonObject = {};
    const told: JsonObject = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$schema') continue;
      if (isRefused(key, inner)) told[key] = inner;
      else if (key === 'oneOf') out.anyOf = asArray(inner).map(adapt);
      else if (LISTS.includes(key)) out[key] = asArray(inner).map(adapt);
      else if (MAPS.includes(key)) out[key] = mapValues(asObject(inner), adapt);
      else if (key === 'items') out[key] = adapt(inner);
      else out[key] = inner;
    }
    if (isObjectSchema(value)) {
      if (isObject(value.additionalProperties)) told.additionalProperties = value.additionalProperties;
      out.additionalProperties = false;
    }
    if (Object.keys(told).length > 0) {
      loosened = true;
      out.description = [asText(out.description), `Constraints: ${JSON.stringify(told)}`]
        .filter((text) => text !== '')
        .join('\n');
    }
    return out;
  };
  return { schema: asObject(adapt(schema)), loosened };
}

function isRefused(key: string, value: unknown): boolean {
  if (key === 'minItems') return value !== 0 && value !== 1;
  if (key === 'format') return !FORMATS.has(asText(value));
  return REFUSED.has(key);
}

function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === 'object' || asArray(schema.type).includes('object') || isObject(schema.properties);
}

function children(schema: JsonObject): unknown[] {
  return [
    ...LISTS.flatMap((key) => asArray(schema[key])),
    ...MAPS.flatMap((key) => Object.values(asObject(schema[key]))),
    schema.items,
  ];
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
