import { parseDocument } from 'yaml';
import { editConfigText } from '../../platform/config-text.ts';
import type { SettingsFormat } from './format.ts';

/** YAML as Python programs read it, too. */
export const yamlFormat: SettingsFormat = {
  read(text) {
    const document = parseDocument(text, { merge: true, logLevel: 'error' });
    const [error] = document.errors;
    if (error) throw new Error(error.message);
    const values: unknown = document.toJS();
    if (values === null || values === undefined) return {};
    if (typeof values !== 'object' || Array.isArray(values)) throw new Error('It does not hold keys.');
    return values;
  },

  edit(text, { path, value }) {
    return editConfigText(text, path, value);
  },
};
