/** The fields of a query as tools take them. The index checks them again for callers that ask it directly. */
import { z } from 'zod';
import { TYPE_WORDS } from '../../contracts/facts.ts';

export const whereSchema = z.strictObject({
  type: z.enum(TYPE_WORDS).exactOptional().describe('Kind of declaration'),
  type_in: z.array(z.enum(TYPE_WORDS)).min(1).exactOptional().describe('Any of these kinds'),
  name_like: z
    .string()
    .min(1)
    .max(500)
    .exactOptional()
    .describe('Name; * matches any text and ? one character, case counts'),
  file_glob: z.string().min(1).max(1024).exactOptional().describe('Files to look in, as in fs_list'),
  exported: z.boolean().exactOptional().describe('Visible outside of its file or package'),
  container: z
    .string()
    .max(2000)
    .exactOptional()
    .describe('Names of the enclosing declarations joined by dots, * and ? allowed; empty: top level only'),
  language: z.string().min(1).max(50).exactOptional().describe('Such as typescript, python, rust'),
  has_doc: z.boolean().exactOptional().describe('Has a doc comment or docstring'),
  test: z.boolean().exactOptional().describe('Is test code'),
  calls: z.string().min(1).max(500).exactOptional().describe('Calls, instantiates or expands this name; exact'),
});
