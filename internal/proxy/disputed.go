package proxy

// disputed reports whether nobody can say which of a chain's two forks is the
// right one: calls are served as before, and told so.
func (s *Server) disputed(c *chain) bool {
	if st := s.o.State(); st != nil {
		if fc := st.Chain(c.Name); fc != nil {
			return fc.Disputed() != ""
		}
	}
	return false
}
