; Keys, one in the other; what is in an array belongs to the key of the array.
(pair key: (string) @name value: (_) @body) @def.key
(comment) @comment
