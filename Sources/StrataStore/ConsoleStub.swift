import StrataModel
extension Store {
    public func purgeZone(_ zone: ZoneID, of user: String) throws {}
    public func resetEncryptedData(of user: String) throws {}
    public func account(of user: String) throws -> (status: AccountStatus, quota: UInt64) { (.available, 0) }
    public func setAccountStatus(_ status: AccountStatus, of user: String) throws {}
    public func setQuota(bytes: UInt64, of user: String) throws {}
    public func usage(of user: String) throws -> UInt64 { 0 }
    public func expireTokens(before offset: UInt64) throws {}
    public func noteConsole(_ text: String, of actor: Actor) throws {}
}
