; One name, one declaration: where several patterns match, the first in this file wins.

(function_definition name: (identifier) @name body: (_) @body) @def.fn
(class_definition name: (identifier) @name body: (_) @body) @def.class
(type_alias_statement left: (type (identifier) @name)) @def.type
(type_alias_statement left: (type (generic_type (identifier) @name))) @def.type

; variables; those of functions are left out, those of classes are fields
(expression_statement . (assignment left: (identifier) @name) @def.var) @statement
(assignment left: (pattern_list (identifier) @name @def.var))
(expression_statement . (assignment left: (identifier) @_all (#eq? @_all "__all__"))) @export.list
(expression_statement . (augmented_assignment left: (identifier) @_all (#eq? @_all "__all__"))) @export.list

; docs
(function_definition body: (block . (expression_statement . (string) @doc)))
(class_definition body: (block . (expression_statement . (string) @doc)))
(decorator) @attr
(comment) @comment

; references
(call function: [(identifier) @ref.call (attribute attribute: (identifier) @ref.call)])
(raise_statement "raise" @ref.macro)
(assert_statement "assert" @ref.macro)

; imports: the statement with its source, then the names in it
(import_statement name: (dotted_name) @import.source) @import
(import_statement name: (aliased_import name: (dotted_name) @import.source alias: (identifier) @import.alias)) @import
(import_from_statement module_name: (_) @import.source) @import
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
(import_from_statement (wildcard_import) @import.star)
(future_import_statement (#set! import.source "__future__")) @import
(future_import_statement name: (dotted_name) @import.name)
