import type { SkillCategory } from '../../shared/model.ts';
import { termsOf } from '../platform/words.ts';

/** Words that send a text to a category in `skills.retrieval_mode: template`. */
const KEYWORDS: Readonly<Partial<Record<SkillCategory, string>>> = {
  coding:
    'code bug debug function class compile refactor unit test git commit branch merge api library stack trace typescript javascript python rust java exception 代码 调试 函数 编译',
  research:
    'research source cite citation literature paper study evidence survey investigate compare findings 调研 文献 论文',
  data_analysis:
    'dataset dataframe csv spreadsheet sql chart plot statistics column correlation pandas 数据分析 图表 统计',
  security:
    'security password secret token vulnerability authentication encrypt permission injection 安全 漏洞 密码',
  communication: 'email letter message reply announcement tone draft memo newsletter 邮件 回复 公告',
  automation: 'script cron schedule pipeline automate deploy workflow bash container backup 脚本 自动化 部署',
  agentic: 'agent subagent delegate handoff context tool mcp orchestrate 智能体 代理',
  productivity: 'prioritize backlog meeting deadline schedule todo checklist roadmap 会议 待办 优先级 计划',
};

/**
 * The category that the keywords of a text point to, compatible in spirit with the original: whole words instead of
 * substrings, most hits instead of the first, and null instead of an arbitrary category.
 */
export function routeCategory(text: string): SkillCategory | null {
  const words = new Set(termsOf(text.slice(0, 4000)).map(({ term }) => term));
  let best: { category: SkillCategory; hits: number } | null = null;
  for (const [category, keywords] of Object.entries(KEYWORDS)) {
    const hits = new Set(
      termsOf(keywords)
        .map(({ term }) => term)
        .filter((term) => words.has(term)),
    ).size;
    if (hits > (best?.hits ?? 0)) best = { category: category as SkillCategory, hits };
  }
  return best?.category ?? null;
}
