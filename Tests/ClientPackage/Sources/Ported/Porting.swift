#if os(Linux)
@_exported import Combine
#endif
