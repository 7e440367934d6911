"""Anomaly detection."""

from adjoint_engine import detect_anomaly as detect_anomaly
from adjoint_engine import set_detect_anomaly as set_detect_anomaly
