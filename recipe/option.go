package recipe

// Option changes how a source is read.
type Option func(*parser)

// Compat reads the source as the older runner would, where that is safe, also
// when the file does not say compat: true.
func Compat() Option { return func(p *parser) { p.compat = true } }

// Again reads a source that was read before, and whose problems were said then: a
// script without placeholders is passed on as it is, so it is not read for warnings.
func Again() Option { return func(p *parser) { p.again = true } }
