import type { Config } from '../../shared/config.ts';

type Settings = Config['openrouter'];

/** How OpenRouter knows which app calls. */
export function openrouterHeaders({ app_name, app_url }: Settings): Record<string, string> {
  return { ...(app_url ? { 'http-referer': app_url } : {}), ...(app_name ? { 'x-title': app_name } : {}) };
}

/** OpenRouter's routing as the user set it: a sort key, models that it tries next, providers that store nothing. */
export function openrouterOptions(
  { route, fallback_models, data_policy }: Settings,
  model: string,
): Record<string, unknown> {
  const provider = {
    ...(route === '' || route === 'fallback' ? {} : { sort: route }),
    ...(data_policy === 'deny' ? { data_collection: 'deny' } : {}),
  };
  return {
    ...(Object.keys(provider).length > 0 ? { provider } : {}),
    ...(fallback_models.length > 0 ? { models: [...new Set([model, ...fallback_models])] } : {}),
  };
}
