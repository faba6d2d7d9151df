extension Store {
    public func usage(of user: String) throws -> UInt64 { 0 }
}
