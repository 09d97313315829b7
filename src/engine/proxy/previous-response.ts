import { AppError } from '../../shared/errors.ts';
import type { ResponseStore } from '../store/response-store.ts';
import type { Route } from '../upstream/index.ts';
import type { Facts } from './facts.ts';
import { decodeValue, member, type Skim, type SkimMember, skim } from './skim.ts';
import { applySplices, removeMembers, type Splice, setMember } from './splice.ts';
import { asText } from './translate/json.ts';
import { inputItems } from './translate/responses/items.ts';
import type { JsonObject } from './translate/types.ts';

/** The response that a request continues; null when it names none. */
export function previousId(body: Skim): string | null {
  const found = member(body, 'previous_response_id');
  return found?.value.kind === 'string' ? asText(decodeValue(body, found.value)) || null : null;
}

/**
 * A Responses request with what it only refers to: the conversation behind `previous_response_id` and items named by
 * id, as far as they are kept here. What a provider of that wire keeps itself stays as the client wrote it. Throws
 * NOT_FOUND for what nobody knows.
 */
export function withHistory(body: Skim, route: Route, store: ResponseStore): Skim {
  const native = route.wire === 'responses';
  const splices = referenceSplices(body, native, store);
  const id = previousId(body);
  const history = id === null ? null : store.history(id);
  if (id !== null && history === null && !native) throw unknownResponse(id);
  if (history !== null) splices.push(...historySplices(body, history));
  return splices.length === 0 ? body : skim(applySplices(body, splices));
}

/** A request that names what only the provider of its first route knows; nobody else can answer it. */
export function refersToProvider(body: Skim, store: ResponseStore): boolean {
  const id = previousId(body);
  if (id !== null && store.history(id) === null) return true;
  return body.items.some(
    (item) =>
      item.type === 'item_reference' &&
      store.item(asText((decodeValue(body, item) as JsonObject).id)) === null,
  );
}

function historySplices(body: Skim, history: readonly JsonObject[]): Splice[] {
  const splices = removeMembers(body.members, (key) => key === 'previous_response_id');
  const input = member(body, 'input');
  const items = history.map((item) => JSON.stringify(item)).join(',');
  if (input?.value.kind === 'array') {
    const some = body.items.length > 0 && items !== '';
    splices.push({ at: input.value.start + 1, remove: 0, insert: some ? `${items},` : items });
  } else if (input?.value.kind === 'string') {
    const own = inputItems(decodeValue(body, input.value)).map((item) => JSON.stringify(item));
    splices.push(replace(input, `[${[items, ...own].filter((text) => text !== '').join(',')}]`));
  } else splices.push(...setMember(body, 'input', `[${items}]`));
  return splices;
}

function referenceSplices(body: Skim, native: boolean, store: ResponseStore): Splice[] {
  return body.items.flatMap((item) => {
    if (item.type !== 'item_reference') return [];
    const id = asText((decodeValue(body, item) as JsonObject).id);
    const known = store.item(id);
    if (known === null && native) return [];
    if (known === null)
      throw new AppError('NOT_FOUND', `Item with id '${id}' not found.`, { field: 'input' });
    return [{ at: item.start, remove: item.end - item.start, insert: JSON.stringify(known) }];
  });
}

function replace(found: SkimMember, insert: string): Splice {
  return { at: found.value.start, remove: found.value.end - found.value.start, insert };
}

function unknownResponse(id: string): AppError {
  return new AppError('NOT_FOUND', `Previous response with id '${id}' not found.`, {
    field: 'previous_response_id',
  });
}

/** The items that a request itself brought, references resolved; kept with its response. */
function ownItems(body: Skim, store: ResponseStore): JsonObject[] {
  const input = member(body, 'input');
  if (!input) return [];
  return inputItems(decodeValue(body, input.value)).map((item) =>
    item.type === 'item_reference' ? (store.item(asText(item.id)) ?? item) : item,
  );
}

interface KeeperInput {
  store: ResponseStore;
  /** The request as the client sent it. */
  body: Skim;
  facts: Facts;
  sessionId: string | null;
  /** May reach the disk. */
  persist: boolean;
}

/**
 * What to do with a response that goes to a client: keep it so that it can be continued by its id. Of a `native` one,
 * which the provider keeps, only the session is remembered. Null when the client asked for nothing to be kept.
 */
export function responseKeeper(input: KeeperInput): ((response: JsonObject, native: boolean) => void) | null {
  const { store, body, facts, sessionId, persist } = input;
  if (facts.dialect !== 'responses') return null;
  const wanted = member(body, 'store');
  if (wanted && decodeValue(body, wanted.value) === false) return null;
  return (response, native) => {
    const id = asText(response.id);
    if (id === '') return;
    store.save(
      {
        id,
        previousId: previousId(body),
        sessionId,
        input: native ? [] : ownItems(body, store),
        response: native ? null : response,
      },
      persist,
    );
  };
}

/** Request fields that a response repeats and that go upstream changed, as the client sent them. */
export function echoOf(body: Skim): JsonObject {
  const instructions = member(body, 'instructions');
  return {
    previous_response_id: previousId(body),
    instructions: instructions ? decodeValue(body, instructions.value) : null,
  };
}
