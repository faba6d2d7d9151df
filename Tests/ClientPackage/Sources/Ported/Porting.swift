#if os(Linux)
@_exported import StrataPorting
#endif
