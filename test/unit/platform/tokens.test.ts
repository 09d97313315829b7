import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { estimateTokens } from '../../../src/engine/platform/tokens.ts';

it.each([
  'The billing service uses PostgreSQL 16 on host delphi and is deployed every Tuesday.',
  'Le service de facturation utilise PostgreSQL 16 et il est déployé chaque mardi matin.',
  'Служба выставления счетов использует PostgreSQL 16 и развёртывается каждый вторник.',
  'تستخدم خدمة الفوترة قاعدة بيانات ويتم نشرها كل يوم ثلاثاء في الصباح',
  'बिलिंग सेवा पोस्टग्रेस का उपयोग करती है और हर मंगलवार को तैनात की जाती है',
  'บริการเรียกเก็บเงินใช้ฐานข้อมูลและปรับใช้ทุกวันอังคาร',
  'Η υπηρεσία τιμολόγησης χρησιμοποιεί βάση δεδομένων κάθε Τρίτη',
  '计费服务使用数据库，每周二部署一次。',
  '課金サービスはデータベースを使い、毎週火曜日にデプロイされます。',
  '청구 서비스는 데이터베이스를 사용하며 매주 화요일에 배포됩니다.',
])('an estimate is never below what a tokeniser counts: %s', (text) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text));
});
