"""Mixed records in metric spaces: push outliers back into the crowd, then flatten or shuffle."""
