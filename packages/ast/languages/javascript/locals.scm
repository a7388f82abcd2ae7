; names
((identifier) @token (#set! space "value"))
((shorthand_property_identifier) @token (#set! space "value") (#set! shorthand "value"))
((shorthand_property_identifier_pattern) @token (#set! space "value") (#set! shorthand "pattern"))
([(property_identifier) (private_property_identifier)] @token (#set! role "member"))
[(string_fragment) (regex_pattern) (jsx_text)] @text.string
[(comment) (html_comment)] @text.comment

; scopes
(program) @scope.module
[
  (function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition) (class_static_block)
] @scope.function
[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body) (class_declaration) (class)] @scope.block

; variables and parameters
(lexical_declaration (variable_declarator name: (_) @def.each))
(variable_declaration (variable_declarator name: (_) @def.each) (#set! hoist "yes"))
(for_in_statement kind: ["let" "const"] left: (_) @def.each)
(for_in_statement kind: "var" left: (_) @def.each (#set! hoist "yes"))
(formal_parameters (_) @def.each)
(arrow_function parameter: (identifier) @def)
(catch_clause parameter: (_) @def.each)
(assignment_pattern right: (_) @expr)
(object_assignment_pattern right: (_) @expr)
(computed_property_name) @expr

; functions and classes
(function_declaration name: (identifier) @def.outer)
(generator_function_declaration name: (identifier) @def.outer)
(function_expression name: (identifier) @def)
(generator_function name: (identifier) @def)
(class_declaration name: (_) @def.outer)
(class name: (_) @def)

; imported names
(import_clause (identifier) @def)
(namespace_import (identifier) @def)
(import_specifier !alias name: (identifier) @def)
(import_specifier name: (identifier) @notref alias: (_))
(import_specifier alias: (identifier) @def)

; not references
(export_statement (export_clause (export_specifier name: (identifier) @notref)) source: (_))
(export_specifier alias: (identifier) @notref)
(namespace_export (identifier) @notref)
([
  (jsx_opening_element name: (identifier) @notref)
  (jsx_closing_element name: (identifier) @notref)
  (jsx_self_closing_element name: (identifier) @notref)
] (#match? @notref "^[a-z]"))
(jsx_namespace_name (identifier) @notref)

; members
(member_expression object: (_) @object property: (_) @member)
(subscript_expression object: (_) @object index: (string (string_fragment) @member))
(variable_declarator name: (object_pattern [
    (pair_pattern key: (property_identifier) @member)
    (shorthand_property_identifier_pattern) @member
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @member)
  ]) value: (_) @object)

; modules written as expressions
((call_expression function: (import) arguments: (arguments . (string (string_fragment) @link.source))) @link.module (#set! link "expression"))
((await_expression (call_expression function: (import) arguments: (arguments . (string (string_fragment) @link.source)))) @link.module (#set! link "expression"))
((parenthesized_expression (await_expression (call_expression function: (import) arguments: (arguments . (string (string_fragment) @link.source))))) @link.module (#set! link "expression"))
((call_expression function: (identifier) @_require arguments: (arguments . (string (string_fragment) @link.source) .)) @link.module (#eq? @_require "require") (#set! link "expression"))
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @link.local value: (_) @link.object) (#set! link "alias"))
(variable_declaration (variable_declarator name: (identifier) @link.local value: (call_expression function: (identifier)) @link.object) (#set! link "alias"))
((call_expression
    function: (member_expression object: (call_expression function: (import)) @object property: (property_identifier) @_then)
    arguments: (arguments . (_ parameters: (formal_parameters . (object_pattern [
      (pair_pattern key: (property_identifier) @member)
      (shorthand_property_identifier_pattern) @member
      (object_assignment_pattern left: (shorthand_property_identifier_pattern) @member)
    ]))))) (#eq? @_then "then"))
((call_expression
    function: (member_expression object: (call_expression function: (import)) @link.object property: (property_identifier) @_then)
    arguments: (arguments . (_ parameters: (formal_parameters . (identifier) @link.local)))) (#eq? @_then "then") (#set! link "alias"))
((call_expression
    function: (member_expression object: (call_expression function: (import)) @link.object property: (property_identifier) @_then)
    arguments: (arguments . (arrow_function parameter: (identifier) @link.local))) (#eq? @_then "then") (#set! link "alias"))

; imports and exports; any of them makes the file a module
(export_statement "export" @link.word (#set! link "statement"))
(import_statement source: (string (string_fragment) @link.source) (#set! link "import"))
(import_statement (import_clause (named_imports (import_specifier !alias name: (identifier) @link.name @link.local))) source: (string (string_fragment) @link.source) (#set! link "import"))
(import_statement (import_clause (named_imports (import_specifier name: (_) @link.name alias: (identifier) @link.local))) source: (string (string_fragment) @link.source) (#set! link "import"))
(import_statement (import_clause (identifier) @link.local) source: (string (string_fragment) @link.source) (#set! link "import") (#set! name "default"))
(import_statement (import_clause (namespace_import (identifier) @link.local)) source: (string (string_fragment) @link.source) (#set! link "module"))
(export_statement (export_clause (export_specifier name: (_) @link.name alias: (_)? @link.alias)) source: (string (string_fragment) @link.source) (#set! link "reexport"))
(export_statement !source (export_clause (export_specifier name: (_) @link.name alias: (_)? @link.alias)) (#set! link "export"))
(export_statement "*" source: (string (string_fragment) @link.source) (#set! link "star"))
(export_statement (namespace_export (_) @link.alias) source: (string (string_fragment) @link.source) (#set! link "reexport-module"))
(export_statement declaration: (_) @link.declaration (#set! link "declare"))
(export_statement "default" declaration: (_ name: (_) @link.name) @link.declaration (#set! link "default"))
(export_statement "default" value: (identifier) @link.name (#set! link "default"))
