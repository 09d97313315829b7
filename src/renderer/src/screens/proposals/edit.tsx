import { SKILL_CATEGORIES, type SkillProposal } from '../../../../shared/model.ts';
import { useT } from '../../i18n.tsx';
import { Field, Select } from '../../ui/primitives.tsx';
import { categoryName } from '../category.ts';
import type { ProposalEdit } from '../decide.tsx';

/** The fields of a proposal that its reader may change before it is accepted. */
export function EditForm({
  edit,
  keepsName,
  onChange,
}: {
  edit: ProposalEdit;
  /** An edit of a skill changes neither its name nor its category. */
  keepsName: boolean;
  onChange: (edit: ProposalEdit) => void;
}) {
  const t = useT();
  const categories = SKILL_CATEGORIES.includes(edit.category as (typeof SKILL_CATEGORIES)[number])
    ? SKILL_CATEGORIES
    : [...SKILL_CATEGORIES, edit.category];
  return (
    <div className="form edit-form">
      <Field id="edit-name" label={t('proposals.name')}>
        <div className="input lg">
          <input
            id="edit-name"
            disabled={keepsName}
            value={edit.name}
            onChange={(event) => onChange({ ...edit, name: event.target.value })}
          />
        </div>
      </Field>
      <Field id="edit-description" label={t('proposals.description')}>
        <div className="input lg">
          <input
            id="edit-description"
            value={edit.description}
            onChange={(event) => onChange({ ...edit, description: event.target.value })}
          />
        </div>
      </Field>
      <Field id="edit-category" label={t('proposals.category')}>
        <Select
          id="edit-category"
          large
          disabled={keepsName}
          value={edit.category}
          onChange={(event) => onChange({ ...edit, category: event.target.value })}
        >
          {categories.map((category) => (
            <option key={category} value={category}>
              {categoryName(category, t)}
            </option>
          ))}
        </Select>
      </Field>
      <Field id="edit-body" label={t('proposals.body')}>
        <div className="input area">
          <textarea
            id="edit-body"
            className="mono"
            rows={14}
            value={edit.body}
            onChange={(event) => onChange({ ...edit, body: event.target.value })}
          />
        </div>
      </Field>
    </div>
  );
}

export function editOf({ name, description, category, body }: SkillProposal): ProposalEdit {
  return { name, description, category, body };
}

export function isComplete(edit: ProposalEdit): boolean {
  return edit.name.trim() !== '' && edit.description.trim() !== '' && edit.body.trim() !== '';
}
