import { describe, expect, it } from 'vitest';
import { languageOf } from '../../../src/engine/platform/language.ts';

describe('languageOf', () => {
  it.each([
    ['请帮我优化这个 SQL 查询，它 SELECT 得太慢了', 'Chinese'],
    ['このクエリを直してください', 'Japanese'],
    ['이 코드를 고쳐 주세요', 'Korean'],
    ['Исправь этот код пожалуйста', 'Russian'],
    ['Écris les tests pour ce module et ne change pas le reste', 'French'],
    ['Escribe las pruebas para este módulo y no cambies lo demás', 'Spanish'],
    ['Schreib bitte die Tests für das Modul und ändere nicht den Rest', 'German'],
    ['Write the tests for this module and leave the rest', 'English'],
    ['fix', 'English'],
  ])('%s → %s', (text, language) => expect(languageOf(text)).toBe(language));
});
