; One name, one declaration: where several patterns match, the first in this file wins.

(function_definition name: (_) @name body: (_) @body) @def.fn

; variables; an assignment before a command, or in a subshell, is gone afterwards
(variable_assignment name: (variable_name) @name) @def.var
(declaration_command (variable_name) @name @def.var)
[(command) (subshell) (command_substitution) (process_substitution)] @local

; what stands around and before declarations
((declaration_command . "readonly") @statement (#set! type "const"))
((declaration_command (word) @_flag) @statement (#match? @_flag "^-[A-Za-z]*r") (#set! type "const"))
(declaration_command) @statement
(comment) @comment

; references
(command name: (command_name (word) @ref.call))

; imports
((command name: (command_name (word) @_source) . argument: (_) @import.source) @import (#any-of? @_source "source" "."))
