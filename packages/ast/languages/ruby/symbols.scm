; One name, one declaration: where several patterns match, the first in this file wins.
; `private` holds for methods only, so what is none says itself that it is public.

(module name: [(constant) @name (scope_resolution scope: (_)? @container name: (constant) @name)] body: (_)? @body (#set! vis "public")) @def.module
(class name: [(constant) @name (scope_resolution scope: (_)? @container name: (constant) @name)] body: (_)? @body (#set! vis "public")) @def.class
(singleton_class value: (self) @name body: (_)? @body (#set! subtype "singleton") (#set! vis "public")) @def.class
((assignment left: (constant) @name right: (call receiver: (constant) @_factory method: (identifier) @_make block: (_)? @body)) @def.class
  (#any-of? @_factory "Struct" "Class" "Data") (#any-of? @_make "new" "define") (#set! vis "public"))
((assignment left: (constant) @name right: (call receiver: (constant) @_factory method: (identifier) @_make block: (_)? @body)) @def.module
  (#eq? @_factory "Module") (#eq? @_make "new") (#set! vis "public"))

; methods
(module body: (body_statement (method name: (_) @name body: (_)? @body) @def.method))
(method name: (_) @name body: (_)? @body) @def.fn
(singleton_method object: (self) name: (_) @name body: (_)? @body (#set! subtype "singleton") (#set! vis "public")) @def.method
(singleton_method object: (_) @container name: (_) @name body: (_)? @body (#set! subtype "singleton") (#set! vis "public")) @def.method
((call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name @def.field))
  (#any-of? @_attr "attr" "attr_reader" "attr_writer" "attr_accessor") (#set! prefix ":"))
((call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_) @body) @def.method
  (#eq? @_define "define_method") (#set! prefix ":"))
((call method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name)) @def.method
  (#eq? @_alias "alias_method") (#set! prefix ":") (#set! subtype "alias"))
(alias name: [(identifier) (setter) (operator)] @name (#set! subtype "alias")) @def.method

; constants and variables
(assignment left: (constant) @name (#set! vis "public")) @def.const
(assignment left: (left_assignment_list (constant) @name @def.const) (#set! vis "public"))
(assignment left: (class_variable) @name (#set! vis "private")) @def.var
(assignment left: (instance_variable) @name (#set! vis "private")) @def.var
(assignment left: (global_variable) @name) @def.var

; tests written as calls
((call !receiver method: (identifier) @_test arguments: (argument_list . [(string) (constant) (scope_resolution) (simple_symbol)] @name) block: (_) @body) @def.test
  (#any-of? @_test "describe" "context" "it" "specify" "example" "test" "should" "feature" "scenario" "shared_examples" "shared_context"))
((call receiver: (constant) @_rspec method: (identifier) @_test arguments: (argument_list . [(string) (constant) (scope_resolution)] @name) block: (_) @body) @def.test
  (#eq? @_rspec "RSpec") (#any-of? @_test "describe" "context" "feature" "shared_examples" "shared_context"))

; visibility: from here on, of one method, of names given before
((body_statement (identifier) @section) (#any-of? @section "private" "protected" "public"))
((call !receiver method: (identifier) @vis arguments: (argument_list . [(method) (singleton_method) (call)])) @statement
  (#any-of? @vis "private" "protected" "public" "private_class_method" "module_function"))
((call !receiver method: (identifier) @_hide arguments: (argument_list (simple_symbol) @hide.name))
  (#any-of? @_hide "private" "protected" "private_class_method" "private_constant"))
((call !receiver method: (identifier) @_attr) @statement (#any-of? @_attr "attr" "attr_reader" "attr_writer" "attr_accessor"))
(comment) @comment
[(lambda) (block) (do_block)] @local

; references
(call method: [(identifier) (constant)] @ref.call)
((call receiver: [(constant) @ref.new (scope_resolution name: (constant) @ref.new)] method: (identifier) @_new) (#eq? @_new "new"))

; imports
((call !receiver method: (identifier) @_require arguments: (argument_list . (string (string_content) @import.source) .)) @import
  (#any-of? @_require "require" "require_relative" "load"))
((call !receiver method: (identifier) @_autoload arguments: (argument_list . (simple_symbol) . (string (string_content) @import.source) .)) @import
  (#eq? @_autoload "autoload"))
