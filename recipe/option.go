package recipe

// Option changes how a source is read.
type Option func(*parser)

// Compat reads the source as the older runner would, where that is safe, also
// when the file does not say compat: true.
func Compat() Option { return func(p *parser) { p.compat = true } }
