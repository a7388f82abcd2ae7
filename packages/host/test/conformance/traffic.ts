/** Everything that was said in both directions, and whether the published schemas allow it. */
import assert from 'node:assert/strict';
import { bodySchemas, envelopeSchemas, type JsonObject } from '@tool-runtime/protocol';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type Direction = 'to host' | 'from host';

export interface Traffic {
  /** One envelope. */
  said(direction: Direction, message: unknown): void;
  /** The body of an HTTP answer that is no envelope, by the name of its schema. */
  body(name: string, value: unknown): void;
  /** Fails for every message that its schema does not allow, and when too little was said to mean anything. */
  check(): void;
}

interface Said {
  readonly schema: string;
  readonly value: unknown;
}

export function createTraffic(): Traffic {
  const said: Said[] = [];
  return {
    said: (direction, value) =>
      said.push({ schema: direction === 'to host' ? 'ClientMessage' : 'ServerMessage', value }),
    body: (schema, value) => said.push({ schema, value }),
    check() {
      const judge = createJudge();
      for (const { schema, value } of said) assert.deepEqual(judge(schema, value), [], JSON.stringify(value));
      for (const type of [
        'ToolRequest',
        'CancelRequest',
        'Heartbeat',
        'ToolResponse',
        'ErrorMessage',
        'EventMessage',
        'BatchRequest',
        'BatchResponse',
        'ChildOpen',
        'ChildAck',
        'ChildEnd',
        'ChildEnded',
      ]) {
        assert.ok(
          said.some(({ value }) => (value as JsonObject)['type'] === type),
          `no ${type} was ever said`,
        );
      }
    },
  };
}

export type Judge = (schema: string, value: unknown) => readonly string[];

/** Problems of a value, none when the schema allows it. */
export function createJudge(): Judge {
  const schemas: Readonly<Record<string, JsonObject>> = { ...envelopeSchemas(), ...bodySchemas() };
  const ajv = new Ajv2020({ schemas: Object.values(schemas), allErrors: true, strictTypes: false });
  formats.default(ajv);
  return (name, value) => {
    const validate = ajv.getSchema(String(schemas[name]?.['$id'])) as ValidateFunction | undefined;
    assert.ok(validate !== undefined, `no such schema: ${name}`);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}
