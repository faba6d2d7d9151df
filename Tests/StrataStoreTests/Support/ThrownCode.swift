import StrataModel

/// The code of what the body throws, which must be a ``StrataError``; nil if it throws nothing.
func thrownCode(_ body: () throws -> Void) -> StrataError.Code? {
    do { try body() } catch { return (error as? StrataError)?.code }
    return nil
}
