/** A form made from a JSON Schema. What has no simple field is typed as JSON. */
import { useState } from 'preact/hooks';
import { brief, visible } from '../format.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface SchemaFormProps {
  readonly schema: Schema;
  readonly isBusy: boolean;
  onRun(args: Record<string, never>): void;
}

export function SchemaForm({ schema, isBusy, onRun }: SchemaFormProps) {
  const [problem, setProblem] = useState('');
  const fields = Object.entries(schema.properties ?? {});
  const submit = (form: HTMLFormElement): void => {
    const data = new FormData(form);
    const args: Record<string, unknown> = {};
    try {
      for (const [name, field] of fields) {
        const value = readField(field, data.get(name));
        if (value !== undefined) args[name] = value;
      }
    } catch (thrown) {
      setProblem(String(thrown));
      return;
    }
    setProblem('');
    onRun(args as Record<string, never>);
  };
  return (
    <form
      class="schema-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      {fields.map(([name, field]) => (
        <Field key={name} name={name} field={field} isRequired={schema.required?.includes(name) === true} />
      ))}
      {problem === '' ? null : <p class="word bad">{problem}</p>}
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? 'Running…' : 'Run'}
      </button>
    </form>
  );
}

type FieldKind = 'choice' | 'boolean' | 'number' | 'text' | 'words' | 'either' | 'json';

/** `either`: text, or something else that is written as JSON. */
function kindOf({ type, enum: values, items, anyOf }: Schema): FieldKind {
  if (values !== undefined) return 'choice';
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string') return 'text';
  if (anyOf?.some((one) => one.type === 'string') === true) return 'either';
  return type === 'array' && items?.type === 'string' ? 'words' : 'json';
}

function Field({
  name,
  field,
  isRequired,
}: {
  readonly name: string;
  readonly field: Schema;
  readonly isRequired: boolean;
}) {
  const kind = kindOf(field);
  const hint = field.default === undefined ? '' : `default: ${JSON.stringify(field.default)}`;
  const isLong = /content|patch|text|script|replace/.test(name);
  const label = (
    <span>
      {visible(name, 80)}
      {isRequired ? <b aria-hidden="true"> *</b> : null} <small>{brief(field.description ?? '')}</small>
    </span>
  );
  if (kind === 'boolean' || kind === 'choice') {
    const values = kind === 'boolean' ? ['true', 'false'] : (field.enum ?? []).map(String);
    return (
      <label>
        {label}
        <select name={name} required={isRequired}>
          <option value="">{hint}</option>
          {values.map((value) => (
            <option key={value}>{visible(value, 80)}</option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <label>
      {label}
      {kind === 'json' || kind === 'words' || isLong ? (
        <textarea
          name={name}
          rows={isLong ? 5 : 2}
          required={isRequired}
          placeholder={kind === 'words' ? 'one per line' : kind === 'json' ? 'JSON' : hint}
        />
      ) : (
        <input
          name={name}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          required={isRequired}
          placeholder={hint}
        />
      )}
    </label>
  );
}

function readField(field: Schema, given: FormDataEntryValue | null): unknown {
  const text = typeof given === 'string' ? given : '';
  if (text === '') return undefined;
  switch (kindOf(field)) {
    case 'boolean':
      return text === 'true';
    case 'number':
      return Number(text);
    case 'words':
      return text.split('\n').filter((line) => line !== '');
    case 'either':
      return /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text;
    case 'json':
      return JSON.parse(text) as unknown;
    default:
      return text;
  }
}
