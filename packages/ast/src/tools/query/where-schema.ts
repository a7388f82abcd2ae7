/** The fields of a query as tools take them. The index checks them again, and knows the words for types. */
import { z } from 'zod';

export const whereSchema = z.strictObject({
  type: z
    .string()
    .exactOptional()
    .describe('fn, method, class, struct, enum, interface, type, const, var, field, module, test…'),
  type_in: z.array(z.string()).min(1).exactOptional().describe('Any of these kinds'),
  name_like: z.string().min(1).max(500).exactOptional().describe('Name; * and ? are wildcards, case counts'),
  file_glob: z.string().min(1).max(1024).exactOptional().describe('Files to look in, as in fs_list'),
  exported: z.boolean().exactOptional().describe('Visible outside its file'),
  container: z
    .string()
    .max(2000)
    .exactOptional()
    .describe('Enclosing names joined by dots; * and ? allowed; empty: top level'),
  language: z.string().min(1).max(50).exactOptional().describe('Such as typescript, python, rust'),
  has_doc: z.boolean().exactOptional().describe('Has documentation'),
  test: z.boolean().exactOptional().describe('Is test code'),
  calls: z.string().min(1).max(500).exactOptional().describe('Calls this exact name'),
});
