; names
((identifier) @token (#set! space "value"))
((type_identifier) @token (#set! space "type"))
((shorthand_property_identifier) @token (#set! space "value") (#set! shorthand "value"))
((shorthand_property_identifier_pattern) @token (#set! space "value") (#set! shorthand "pattern"))
([(property_identifier) (private_property_identifier)] @token (#set! role "member"))
[(string_fragment) (regex_pattern)] @text.string
(comment) @text.comment

; scopes
(program) @scope.module
[
  (function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition) (class_static_block) (function_signature) (method_signature) (abstract_method_signature)
  (call_signature) (construct_signature) (function_type) (constructor_type)
] @scope.function
[
  (statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body) (index_signature)
  (class_declaration) (abstract_class_declaration) (class) (interface_declaration) (type_alias_declaration) (enum_declaration)
] @scope.block
(conditional_type) @scope.conditional
(internal_module body: (statement_block) @scope.namespace)
(module body: (statement_block) @scope.ambient)
(ambient_declaration (statement_block) @scope.ambient)

; variables and parameters
(lexical_declaration (variable_declarator name: (_) @def.each))
(variable_declaration (variable_declarator name: (_) @def.each) (#set! hoist "yes"))
(for_in_statement kind: ["let" "const"] left: (_) @def.each)
(for_in_statement kind: "var" left: (_) @def.each (#set! hoist "yes"))
(required_parameter pattern: (_) @def.each)
(optional_parameter pattern: (_) @def.each)
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @def (#set! member "yes"))
(arrow_function parameter: (identifier) @def)
(catch_clause parameter: (_) @def.each)
(assignment_pattern right: (_) @expr)
(object_assignment_pattern right: (_) @expr)
(computed_property_name) @expr

; functions, classes, types
(function_declaration name: (identifier) @def.outer)
(generator_function_declaration name: (identifier) @def.outer)
(function_signature name: (identifier) @def.outer)
(function_expression name: (identifier) @def)
(generator_function name: (identifier) @def)
(class_declaration name: (_) @def.outer (#set! space "value type"))
(abstract_class_declaration name: (_) @def.outer (#set! space "value type"))
(class name: (_) @def (#set! space "value type"))
(interface_declaration name: (_) @def.outer)
(type_alias_declaration name: (_) @def.outer)
(enum_declaration name: (_) @def.outer (#set! space "value type namespace"))
(enum_body name: (property_identifier) @def (#set! space "value") (#set! member "yes"))
(enum_assignment name: (property_identifier) @def (#set! space "value") (#set! member "yes"))
(internal_module name: (identifier) @def (#set! space "value namespace"))
(internal_module name: (nested_identifier object: (identifier) @def (#set! space "value namespace")))
(module name: (identifier) @def (#set! space "value namespace"))
(type_parameter name: (type_identifier) @def)
(infer_type . (type_identifier) @def (#set! into "conditional"))
(mapped_type_clause name: (type_identifier) @def)

; imported names
(import_clause (identifier) @def (#set! space "any"))
(namespace_import (identifier) @def (#set! space "any"))
(import_specifier !alias name: (identifier) @def (#set! space "any"))
(import_specifier name: (identifier) @notref alias: (_))
(import_specifier alias: (identifier) @def (#set! space "any"))
(import_require_clause (identifier) @def (#set! space "any"))
(import_alias . (identifier) @def (#set! space "any"))

; references that mean more or other than their kind says
(export_statement !source (export_clause (export_specifier name: (identifier) @ref (#set! space "any"))))
(export_statement (export_clause (export_specifier name: (identifier) @notref)) source: (_))
(export_specifier alias: (identifier) @notref)
(export_statement value: (identifier) @ref (#set! space "any"))
(export_statement "=" (identifier) @ref (#set! space "any"))
(namespace_export (identifier) @notref)
(nested_type_identifier module: (identifier) @ref (#set! space "namespace"))
(nested_type_identifier module: (nested_identifier object: (identifier) @ref) (#set! space "namespace"))
(tuple_type [(required_parameter name: (identifier) @notref) (optional_parameter name: (identifier) @notref)])
(index_signature name: (identifier) @notref)

; members
(member_expression object: (_) @object property: (_) @member)
(nested_identifier object: (_) @object property: (_) @member)
(nested_type_identifier module: (_) @object name: (_) @member)
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
((call_expression
    function: (member_expression object: (call_expression function: (import)) @object property: (property_identifier) @_then)
    arguments: (arguments . (_ parameters: (formal_parameters . (_ pattern: (object_pattern [
      (pair_pattern key: (property_identifier) @member)
      (shorthand_property_identifier_pattern) @member
      (object_assignment_pattern left: (shorthand_property_identifier_pattern) @member)
    ])))))) (#eq? @_then "then"))
((call_expression
    function: (member_expression object: (call_expression function: (import)) @link.object property: (property_identifier) @_then)
    arguments: (arguments . (_ parameters: (formal_parameters . (_ pattern: (identifier) @link.local))))) (#eq? @_then "then") (#set! link "alias"))
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
(import_statement (import_require_clause (identifier) @link.local source: (string (string_fragment) @link.source)) (#set! link "module"))
(export_statement (export_clause (export_specifier name: (_) @link.name alias: (_)? @link.alias)) source: (string (string_fragment) @link.source) (#set! link "reexport"))
(export_statement !source (export_clause (export_specifier name: (_) @link.name alias: (_)? @link.alias)) (#set! link "export"))
(export_statement "*" source: (string (string_fragment) @link.source) (#set! link "star"))
(export_statement (namespace_export (_) @link.alias) source: (string (string_fragment) @link.source) (#set! link "reexport-module"))
(export_statement declaration: (_) @link.declaration (#set! link "declare"))
(export_statement "default" declaration: (_ name: (_) @link.name) @link.declaration (#set! link "default"))
(export_statement "default" value: (identifier) @link.name (#set! link "default"))
(export_statement "=" (identifier) @link.name (#set! link "export-equals"))
