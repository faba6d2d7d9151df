import Foundation

extension UserDefaults {
    /// Stores a value, as key-value coding does on Apple's platforms.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    /// Returns the value of a key.
    public func value(forKey key: String) -> Any? { object(forKey: key) }
}
