public let below6 = 6
