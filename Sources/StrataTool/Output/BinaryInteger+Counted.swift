extension BinaryInteger {
    /// Returns the number with its noun: "1 byte", "2 bytes".
    ///
    /// - Parameter many: the plural if it is not the noun with an s.
    func counted(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}
